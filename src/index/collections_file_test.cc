#include "src/index/collections_file.h"

#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "smdebug/error.h"
#include "src/config/plan.h"

namespace smdebug::index {
namespace {

using ::testing::HasSubstr;

constexpr const char* kCollections =
    "collections/000000000/worker_0_collections.json";

// A file whose only collection "c" is `json`.
std::string WithCollection(std::string_view json) {
  return R"({"collections": {"c": )" + std::string(json) + "}}";
}

// The whole message of the FormatError; empty if there is none.
std::string CollectionsError(std::string_view json) {
  try {
    ParseCollectionsFile(json, kCollections);
  } catch (const FormatError& error) {
    EXPECT_EQ(error.file(), kCollections);
    return error.what();
  }
  return "";
}

struct BadCollections {
  std::string json;
  std::string reason;  // Part of the message.
};

void ExpectCollectionsRefused(const std::vector<BadCollections>& cases) {
  for (const BadCollections& test : cases) {
    const std::string error = CollectionsError(test.json);
    EXPECT_THAT(error, HasSubstr(kCollections)) << test.json;
    EXPECT_THAT(error, HasSubstr(test.reason)) << test.json;
  }
}

// smdebug 1.0.34 exports exactly this for a hook of the same configuration,
// but for the order of collections, which it draws at random.
TEST(CollectionsFileTest, WritesTheFileOfTheReference) {
  const std::string mode =
      R"({"save_interval": 5, "save_steps": [1, 2], "start_step": 0, )"
      R"("end_step": null})";
  const auto collection = [&mode](const std::string& name,
                                  const std::string& regex, bool loss) {
    return "\"" + name + R"(": {"name": ")" + name +
           R"(", "include_regex": [)" + regex + R"(], "tensor_names": [], )" +
           (loss ? R"("reduction_config": {"save_raw_tensor": true, )"
                   R"("reductions": "", "save_shape": false}, )"
                 : R"("reduction_config": {"save_raw_tensor": false, )"
                   R"("reductions": "min,abs_l2_norm", )"
                   R"("save_shape": false}, )") +
           R"("save_config": {"TRAIN": )" + mode + R"(, "EVAL": )" + mode +
           R"(, "PREDICT": )" + mode + R"(, "GLOBAL": )" + mode +
           R"(}, "save_histogram": )" + (loss ? "false" : "true") + "}";
  };
  HookConfig config;
  config.out_dir = "/run";
  config.framework = Framework::kPyTorch;
  config.save_all = true;
  config.include_regex = {"relu"};
  config.reduction_config = ReductionConfig{
      {{ReductionOp::kMin, false}, {ReductionOp::kL2, true}}, false, false};
  config.save_config =
      SaveConfig::Every({.save_interval = 5, .save_steps = {1, 2}});
  CollectionsFile content;
  for (const auto& [name, planned] : config::MakePlan(config)) {
    content.collections.emplace(name, planned.collection);
  }
  content.num_workers = 3;
  EXPECT_EQ(ToJson(content),
            R"({"collections": {)" + collection("all", R"(".*")", false) +
                ", " + collection("biases", R"("^(?!gradient).*bias")", false) +
                ", " + collection("default", R"("relu")", false) + ", " +
                collection("gradients", R"("^gradient")", false) + ", " +
                collection("losses", R"("[Ll]oss_(?!input).*output")", true) +
                ", " +
                collection("weights", R"("^(?!gradient).*weight")", false) +
                R"(}, "_meta": {"num_workers": 3}})");
  EXPECT_EQ(ParseCollectionsFile(ToJson(content), kCollections), content);
}

TEST(CollectionsFileTest, ReadsBackEveryField) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  Collection full{.name = "q\"\\\n \xF0\x9F\x98\x80",
                  .include_regex = {"^a,b", ""},
                  .tensor_names = {"", "t\t1"}};
  full.reduction_config = ReductionConfig{
      {{ReductionOp::kMax, false}, {ReductionOp::kMedian, true}}, true, true};
  full.save_config.emplace();
  (*full.save_config)[Mode::kPredict] = SaveConfigMode{.save_interval = -1,
                                                       .start_step = kMost,
                                                       .end_step = 0,
                                                       .save_steps = {3, 3}};
  full.save_histogram = false;
  CollectionsFile content;
  content.collections = {{full.name, full}, {"", Collection{}}};
  content.num_workers = kMost;
  EXPECT_EQ(ParseCollectionsFile(ToJson(content), kCollections), content);
  EXPECT_EQ(ParseCollectionsFile(ToJson(CollectionsFile{}), kCollections),
            CollectionsFile{});
}

TEST(CollectionsFileTest, ReadsWhatOldRunsLeaveOutOrHaveMoreOf) {
  const CollectionsFile content = ParseCollectionsFile(
      R"({"version": [1], "collections": {)"
      R"("a": {"save_config": {"save_interval": 3}, "later": {}}, )"
      R"("b": {"name": "other", "save_config": {"TRAIN": null, "EVAL": )"
      R"({"save_interval": 2}}, "reduction_config": null}}, )"
      R"("_meta": {"more": 1}})",
      kCollections);
  Collection a{.name = "a"};
  a.save_config = SaveConfig::Every({.save_interval = 3});
  // The key is the name.
  Collection b{.name = "b"};
  b.save_config.emplace();
  (*b.save_config)[Mode::kEval] = SaveConfigMode{.save_interval = 2};
  EXPECT_EQ(content, (CollectionsFile{.collections = {{"a", a}, {"b", b}}}));
}

TEST(CollectionsFileTest, ARegexThatDoesNotCompileIsATextLikeAnyOther) {
  const auto content = ParseCollectionsFile(
      WithCollection(R"({"include_regex": ["*(["]})"), kCollections);
  EXPECT_EQ(content.collections.at("c").include_regex,
            std::vector<std::string>{"*(["});
}

TEST(CollectionsFileTest, RefusesWhatIsNotSuchAFile) {
  ExpectCollectionsRefused({
      {"", "is empty"},
      {"{", "is not JSON"},
      {"[]", "expected a JSON object, got a list"},
      {"{}", "collections: is missing"},
      {R"({"collections": null})", "collections: expected an object, got null"},
      {R"({"collections": {}, "_meta": []})",
       "_meta: expected an object, got a list"},
      {R"({"collections": {}, "_meta": {"num_workers": "2"}})",
       "_meta.num_workers: expected a whole number from 1"},
      {R"({"collections": {}, "_meta": {"num_workers": 0}})", "got 0"},
      {WithCollection("7"), "collections.c: expected an object, got a number"},
      {WithCollection(R"({"name": 7})"), "collections.c: collection: name"},
      {WithCollection(R"({"tensor_names": "a"})"), "an array of strings"},
      {WithCollection(R"({"include_regex": [null]})"), "an array of strings"},
      {WithCollection(R"({"save_config": 500})"), "an object or null"},
      {WithCollection(R"({"save_config": {"NONE": {}}})"),
       "one of TRAIN, EVAL, PREDICT, GLOBAL"},
      {WithCollection(R"({"save_config": {"save_steps": [1e300]}})"),
       "save_config.save_steps"},
      {WithCollection(R"({"reduction_config": {"reductions": "mode"}})"),
       "reduction_config.reductions: 'mode'"},
      {WithCollection(R"({"save_histogram": []})"), "true or false"},
  });
}

TEST(CollectionsFileTest, RefusesAKeyGivenTwice) {
  ExpectCollectionsRefused({
      {R"({"collections": {}, "collections": {}})",
       "collections: is there twice"},
      {R"({"collections": {"a": {}, "a": {}}})",
       "collections.a: is there twice"},
      {R"({"collections": {}, "_meta": {}, "_meta": {}})",
       "_meta: is there twice"},
      {R"({"collections": {}, "_meta": {"num_workers": 1, "num_workers": 2}})",
       "_meta.num_workers: is there twice"},
      {WithCollection(R"({"name": "c", "name": "c"})"), "each key once"},
  });
}

TEST(CollectionsFileTest, RefusesDeepNestingAndHugeFiles) {
  const auto nested = [](size_t depth) {
    return R"({"x": )" + std::string(depth, '[') + std::string(depth, ']') +
           "}";
  };
  ExpectCollectionsRefused({
      {WithCollection(nested(100)), "nested deeper than"},
      {WithCollection(nested(900)), "nested deeper than"},
      {WithCollection(nested(100'000)), "is not JSON"},
      {nested(100'000), "is not JSON"},
      {WithCollection("{}") + std::string(size_t{64} << 20, ' '),
       "is larger than 64 MiB"},
  });
}

TEST(CollectionsFileTest, RefusesEveryTruncation) {
  CollectionsFile content;
  content.collections = {{"a", Collection{.name = "a", .tensor_names = {"t"}}}};
  content.num_workers = 12;
  const std::string whole = ToJson(content);
  for (size_t length = 0; length < whole.size(); ++length) {
    EXPECT_NE(CollectionsError(whole.substr(0, length)), "") << length;
  }
}

}  // namespace
}  // namespace smdebug::index
