#include <string>

#include <gtest/gtest.h>

#include "smdebug/config.h"
#include "smdebug/error.h"

namespace smdebug {
namespace {

// The texts are what smdebug 1.0.34 prints for the same objects.
TEST(CollectionTest, WritesTheJsonOfTheReference) {
  EXPECT_EQ(ToJson(Collection{.name = "a"}),
            R"({"name": "a", "include_regex": [], "tensor_names": [], )"
            R"("reduction_config": null, "save_config": null, )"
            R"("save_histogram": true})");
  Collection collection{.name = "b",
                        .include_regex = {"x\"y", "\xC3\xA9"},
                        .tensor_names = {"t2", "t1"}};
  collection.reduction_config =
      ReductionConfig{.reductions = {{ReductionOp::kMean, false}}};
  collection.save_config.emplace();
  (*collection.save_config)[Mode::kTrain] = SaveConfigMode{};
  collection.save_histogram = false;
  EXPECT_EQ(
      ToJson(collection),
      R"({"name": "b", "include_regex": ["x\"y", "\u00e9"], )"
      R"("tensor_names": ["t1", "t2"], "reduction_config": )"
      R"({"save_raw_tensor": false, "reductions": "mean", "save_shape": )"
      R"(false}, "save_config": {"TRAIN": {"save_interval": 500, )"
      R"("save_steps": [], "start_step": 0, "end_step": null}, "EVAL": null, )"
      R"("PREDICT": null, "GLOBAL": null}, "save_histogram": false})");
  EXPECT_EQ(CollectionFromJson(ToJson(collection)), collection);
}

TEST(CollectionTest, ReadsAnObjectWithKeysMissingOrNew) {
  EXPECT_EQ(CollectionFromJson(R"({"name": "x", "invented_later": 1})"),
            Collection{.name = "x"});
  EXPECT_EQ(CollectionFromJson("{}"), Collection{});
}

TEST(CollectionTest, RefusesJsonOfAnotherShapeByKey) {
  struct Case {
    std::string json;
    std::string key;
    std::string value;
  };
  for (const Case& c : {
           Case{"[1]", "collection", "[1]"},
           Case{R"({"name": 3})", "collection: name", "3"},
           Case{R"({"name": "x", "include_regex": "a"})",
                "collection x: include_regex", "a"},
           Case{R"({"name": "x", "tensor_names": [1]})",
                "collection x: tensor_names", "1"},
           Case{R"({"name": "x", "save_config": {"TRAIN": []}})",
                "collection x: save_config.TRAIN", "[]"},
           Case{R"({"name": "x", "reduction_config": {"reductions": "q"}})",
                "collection x: reduction_config.reductions", "q"},
           Case{R"({"name": "x", "save_histogram": 2})",
                "collection x: save_histogram", "2"},
       }) {
    SCOPED_TRACE(c.json);
    try {
      CollectionFromJson(c.json);
      FAIL() << "accepted";
    } catch (const ConfigError& error) {
      EXPECT_EQ(error.key(), c.key);
      EXPECT_EQ(error.value(), c.value);
    }
  }
}

}  // namespace
}  // namespace smdebug
