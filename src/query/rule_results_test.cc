#include "src/query/rule_results.h"

#include <memory>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/testing/files.h"

namespace smdebug::query {
namespace {

using testing::PutFile;
using ::testing::SizeIs;

TEST(RuleResultsTest, ReportsAreReadAndOthersNamed) {
  const std::shared_ptr<Storage> storage = OpenMemoryStorage();
  EXPECT_THAT(ReadRuleResults(*storage, "").rules, SizeIs(0));
  PutFile(*storage, "rules/b.json",
          R"({"name": "b", "status": "Error", "details": "no tensor"})");
  PutFile(*storage, "rules/a.json",
          R"({"name": "a", "status": "IssuesFound", "findings_total": 3})");
  PutFile(*storage, "rules/torn.json", R"({"name": "to)");
  PutFile(*storage, "rules/list.json", "[]");
  PutFile(*storage, "rules/a/own.json", "{}");
  PutFile(*storage, "rules/actions.jsonl", "{}\n");

  const RuleResults results = ReadRuleResults(*storage, "");
  ASSERT_THAT(results.rules, SizeIs(2));
  EXPECT_EQ(results.rules[0].name, "a");
  EXPECT_EQ(results.rules[0].findings_total, 3);
  EXPECT_EQ(results.rules[1].status, "Error");
  EXPECT_EQ(results.rules[1].details, "no tensor");
  ASSERT_THAT(results.damage, SizeIs(2));
  EXPECT_EQ(results.damage[0].file, "rules/list.json");
  EXPECT_EQ(results.damage[1].file, "rules/torn.json");
  EXPECT_EQ(ToJson(results)["rules"][0]["status"], "IssuesFound");
}

TEST(RuleResultsTest, ReportsAboutTheRunBeforeArePassedOver) {
  const std::shared_ptr<Storage> storage = OpenMemoryStorage();
  PutFile(*storage, "rules/before.json",
          R"({"name": "before", "status": "IssuesFound",
              "question": {"rule": "R", "run": "a"}})");
  PutFile(*storage, "rules/now.json",
          R"({"name": "now", "status": "IssuesFound",
              "question": {"rule": "R", "run": "b"}})");
  PutFile(*storage, "rules/own.json",
          R"({"name": "own", "status": "IssuesFound", "question": 1})");
  const RuleResults results = ReadRuleResults(*storage, "b");
  ASSERT_THAT(results.rules, SizeIs(2));
  EXPECT_EQ(results.rules[0].name, "now");
  EXPECT_EQ(results.rules[1].name, "own");
  EXPECT_THAT(results.damage, SizeIs(0));
}

}  // namespace
}  // namespace smdebug::query
