#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "smdebug/action.h"
#include "smdebug/log.h"

namespace smdebug {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

ActionSpec Stop(std::string target) {
  return {.kind = "stop", .target = std::move(target)};
}

TEST(ParseActionTest, EveryFormIsTaken) {
  EXPECT_EQ(ParseAction("stop"), Stop(""));
  EXPECT_EQ(ParseAction("stop:123"), Stop("123"));
  EXPECT_EQ(ParseAction(" STOP:-123 "), Stop("-123"));
  EXPECT_EQ(ParseAction("email:Ann@Example.org").target, "Ann@Example.org");
  EXPECT_EQ(ParseAction("sms:+4912345").kind, "sms");
  EXPECT_EQ(ParseAction("webhook:https://a.b:8/c?d#e").target,
            "https://a.b:8/c?d#e");
  EXPECT_EQ(ParseAction("exec:notify --to 'a b:c'").target,
            "notify --to 'a b:c'");
}

TEST(ParseActionTest, WhatIsNotAllowedIsNamed) {
  for (const char* text : {"",
                           "page:me",
                           "email",
                           "exec",
                           "stop:",
                           "stop:x",
                           "stop:0",
                           "stop:1",
                           "stop:-1",
                           "stop:99999999999",
                           "email:a",
                           "email:@b",
                           "email:a@",
                           "email:a@b c",
                           "email:a@b\nBcc: c@d",
                           "email:<a@b>",
                           "email:a@b,c@d",
                           "sms:123",
                           "sms:+",
                           "sms:+1234567890123456",
                           "webhook:ftp://a",
                           "webhook:http://",
                           "webhook:file:///etc/passwd",
                           "exec:'open"}) {
    try {
      ParseAction(text);
      ADD_FAILURE() << text << " was taken";
    } catch (const ConfigError& error) {
      EXPECT_THAT(error.key(), HasSubstr("action")) << text;
      EXPECT_FALSE(error.allowed().empty()) << text;
    }
  }
}

TEST(ParseActionTest, WhatWasMeantIsNamed) {
  const auto refusal = [](const char* text) {
    try {
      ParseAction(text);
      return std::string();
    } catch (const ConfigError& error) {
      return error.allowed();
    }
  };
  EXPECT_THAT(refusal("emial:a@b.com"), HasSubstr("did you mean 'email'?"));
  EXPECT_THAT(refusal("webhok:http://a"), HasSubstr("did you mean 'webhook'?"));
  EXPECT_THAT(refusal("dance"), Not(HasSubstr("did you mean")));
  EXPECT_EQ(refusal("email"), "email:ADDRESS");
}

TEST(MakeActionTest, AnUnknownKindIsRefusedAndTheKnownOnesAreNamed) {
  try {
    MakeAction({.kind = "page", .target = "me"}, {});
    ADD_FAILURE();
  } catch (const ConfigError& error) {
    EXPECT_EQ(error.allowed(),
              "stop, stop:PID, stop:-GROUP, email:ADDRESS, sms:+NUMBER, "
              "webhook:URL or exec:COMMAND");
  }
}

class ParseActionJsonTest : public ::testing::Test {
 protected:
  ParseActionJsonTest() {
    SetLogSink([this](LogLevel, std::string_view message) {
      logged_.emplace_back(message);
    });
  }
  ~ParseActionJsonTest() override { SetLogSink({}); }

  std::vector<std::string> logged_;
};

TEST_F(ParseActionJsonTest, OneObjectOrAListIsTaken) {
  const ActionSpec mail{.kind = "email", .target = "a@b.com"};
  EXPECT_THAT(
      ParseActionJson(R"({"name": "email", "endpoint": "a@b.com"})", "R"),
      ElementsAre(mail));
  EXPECT_THAT(ParseActionJson(R"([{"name": "email", "endpoint": "a@b.com"},
                          {"name": "sms", "endpoint": "+1"}])",
                              "R"),
              ElementsAre(mail, ActionSpec{.kind = "sms", .target = "+1"}));
  EXPECT_THAT(logged_, IsEmpty());
}

TEST_F(ParseActionJsonTest, BackslashesBeforeQuotationMarksAreTaken) {
  EXPECT_THAT(
      ParseActionJson(
          R"([{\"training_job_prefix\": \"job-1\", \"name\": \"stoptraining\"}])",
          "R"),
      ElementsAre(ActionSpec{.kind = "stop", .job_prefix = "job-1"}));
}

TEST_F(ParseActionJsonTest, KeysAndNamesAreInAnyLetterCaseAndValuesKeepTheirs) {
  EXPECT_THAT(
      ParseActionJson(
          R"({"NAME": "StopTraining", "Training_Job_Prefix": "Job"})", "R"),
      ElementsAre(ActionSpec{.kind = "stop", .job_prefix = "Job"}));
}

TEST_F(ParseActionJsonTest, OurOwnKindsAreTaken) {
  EXPECT_THAT(
      ParseActionJson(R"([{"name": "webhook", "url": "http://a/b"},
                          {"name": "exec", "command": ["a", "b c"]},
                          {"name": "exec", "command": "a b"},
                          {"name": "stop", "pid": 77}])",
                      "R"),
      ElementsAre(ActionSpec{.kind = "webhook", .target = "http://a/b"},
                  ActionSpec{.kind = "exec", .target = R"(["a","b c"])"},
                  ActionSpec{.kind = "exec", .target = "a b"}, Stop("77")));
}

TEST_F(ParseActionJsonTest, BlankIsNoAction) {
  EXPECT_THAT(ParseActionJson("", "R"), IsEmpty());
  EXPECT_THAT(ParseActionJson(" \n", "R"), IsEmpty());
  EXPECT_THAT(logged_, IsEmpty());
}

TEST_F(ParseActionJsonTest, WhatIsWrongIsLoggedAndLeftOut) {
  for (const char* json :
       {"{", "3", "\"email\"", "null", "[[]]", "{}", "[1]", R"({"name": 3})",
        R"({"name": "page", "endpoint": "x"})", R"({"name": "email"})",
        R"({"name": "email", "endpoint": null})", R"({"name": "stoptraining"})",
        R"({"name": "stoptraining", "training_job_prefix": ""})",
        R"({"name": "sms", "endpoint": "12"})"}) {
    logged_.clear();
    EXPECT_THAT(ParseActionJson(json, "Rule9"), IsEmpty()) << json;
    EXPECT_THAT(logged_, ElementsAre(HasSubstr("Rule9"))) << json;
  }
}

TEST_F(ParseActionJsonTest, WhatWasMeantIsNamed) {
  ParseActionJson(R"({"name": "stoptrainin"})", "R");
  EXPECT_THAT(logged_, ElementsAre(HasSubstr("did you mean 'stoptraining'?")));
}

TEST_F(ParseActionJsonTest, WhatIsRightStaysBesideWhatIsWrong) {
  EXPECT_EQ(
      ParseActionJson(R"([3, {"name": "sms", "endpoint": "+1"}, {}])", "R")
          .size(),
      1);
  EXPECT_EQ(logged_.size(), 2);
}

}  // namespace
}  // namespace smdebug
