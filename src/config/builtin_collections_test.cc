#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "smdebug/config.h"
#include "src/config/framework.h"
#include "src/config/plan.h"

namespace smdebug {
namespace {

using ::testing::ElementsAre;

std::vector<std::string> NamesOf(Framework framework) {
  std::vector<std::string> names;
  for (const auto& [name, collection] : BuiltInCollections(framework)) {
    EXPECT_EQ(collection.name, name);
    names.push_back(name);
  }
  return names;
}

TEST(BuiltInCollectionsTest, ExistPerFrameworkAsDocumented) {
  const auto common =
      ElementsAre("all", "biases", "default", "gradients", "losses", "weights");
  EXPECT_THAT(NamesOf(Framework::kNative), common);
  EXPECT_THAT(NamesOf(Framework::kPyTorch), common);
  EXPECT_THAT(NamesOf(Framework::kMxnet), common);
  EXPECT_THAT(NamesOf(Framework::kTensorFlow),
              ElementsAre("all", "biases", "default", "gradients", "inputs",
                          "layers", "losses", "metrics", "optimizer_variables",
                          "outputs", "sm_metrics", "weights"));
  EXPECT_THAT(
      NamesOf(Framework::kXgboost),
      ElementsAre("all", "average_shap", "average_shap_signed", "default",
                  "feature_importance", "full_shap", "hyperparameters",
                  "labels", "losses", "metrics", "predictions", "trees"));
}

TEST(BuiltInCollectionsTest, KeepThePatternsOfTheReference) {
  const auto pytorch = BuiltInCollections(Framework::kPyTorch);
  EXPECT_THAT(pytorch.at("weights").include_regex,
              ElementsAre("^(?!gradient).*weight"));
  EXPECT_THAT(pytorch.at("biases").include_regex,
              ElementsAre("^(?!gradient).*bias"));
  EXPECT_THAT(pytorch.at("gradients").include_regex, ElementsAre("^gradient"));
  EXPECT_THAT(pytorch.at("losses").include_regex,
              ElementsAre("[Ll]oss_(?!input).*output"));
  EXPECT_THAT(
      BuiltInCollections(Framework::kTensorFlow).at("biases").include_regex,
      ElementsAre("^(?!gradient).*bias"));
}

// What each built-in collection takes in and leaves out.
TEST(BuiltInCollectionsTest, MatchTheTensorsOfTheirFramework) {
  struct Case {
    Framework framework;
    std::string_view collection;
    std::string_view tensor;
    bool matches;
  };
  constexpr Framework kNative = Framework::kNative;
  constexpr Framework kTorch = Framework::kPyTorch;
  constexpr Framework kMx = Framework::kMxnet;
  constexpr Framework kXgb = Framework::kXgboost;
  for (const Case& c : std::vector<Case>{
           {kNative, "weights", "fc.weight", true},
           {kNative, "weights", "gradient/fc.weight", false},
           {kNative, "biases", "fc.bias", true},
           {kNative, "gradients", "gradient/fc.weight", true},
           {kNative, "losses", "loss", true},
           {kNative, "losses", "train/Loss", true},
           {kNative, "losses", "CrossEntropyLoss_output_0", true},
           {kNative, "losses", "my_input_loss", true},
           {kNative, "losses", "CrossEntropyLoss_input_0", false},
           {kNative, "losses", "loss_inputs", false},
           {kNative, "losses", "gradient/loss", false},
           {kNative, "losses", "smdebug/reductions/mean/loss", false},
           {kTorch, "losses", "CrossEntropyLoss_output_0", true},
           {kTorch, "losses", "nll_loss_output_0", true},
           {kTorch, "losses", "CrossEntropyLoss_input_0", false},
           {kMx, "losses", "softmaxcrossentropyloss0_output_0", true},
           {kMx, "losses", "softmaxcrossentropyloss12_output_0", true},
           {kMx, "losses", "softmaxcrossentropyloss0_input_0", false},
           {kMx, "losses", "softmaxcrossentropyloss12_input_0", false},
           {kXgb, "metrics", "train-rmse", true},
           {kXgb, "metrics", "validation_0-rmse", true},
           {kXgb, "metrics", "train-error@0.3", true},
           {kXgb, "metrics", "train-ndcg@5-", true},
           {kXgb, "metrics", "eval-tweedie-nloglik@1.5", true},
           {kXgb, "metrics", "predictions", false},
           {kXgb, "metrics", "feature_importance/gain/a-b", false},
           {kXgb, "losses", "train-rmse", true},
           {kXgb, "losses", "validation_0-logloss", true},
           {kXgb, "losses", "train-error@0.3", true},
           {kXgb, "losses", "eval-tweedie-nloglik@1.5", true},
           {kXgb, "losses", "train-mape", true},
           {kXgb, "losses", "train-auc", false},
           {kXgb, "losses", "validation_0-auc", false},
           {kXgb, "losses", "train-aucpr", false},
           {kXgb, "losses", "train-map", false},
           {kXgb, "losses", "train-map@3", false},
           {kXgb, "losses", "train-ndcg", false},
           {kXgb, "losses", "train-ndcg-", false},
           {kXgb, "losses", "train-ndcg@5-", false},
           {kXgb, "losses", "train-pre@2", false},
           {kXgb, "losses", "train-interval-regression-accuracy", false},
           {kXgb, "losses", "train-customauc", false},
           {kXgb, "losses", "full_shap/a-b", false},
           {kXgb, "average_shap", "average_shap/radius", true},
           {kXgb, "average_shap", "average_shap/fa", true},
           {kXgb, "average_shap", "average_shap/bias", false},
           {kXgb, "average_shap", "average_shap/bias_2", true},
           {kXgb, "average_shap", "average_shap_signed/f0", false},
           {kXgb, "average_shap_signed", "average_shap_signed/fa", true},
           {kXgb, "average_shap_signed", "average_shap_signed/bias", false},
           {kXgb, "full_shap", "full_shap/b", true},
           {kXgb, "full_shap", "full_shap/bias", false},
           {kXgb, "full_shap", "average_shap/f0", false},
           {kXgb, "feature_importance", "feature_importance/gain/f0", true},
           {kXgb, "hyperparameters", "hyperparameters/eta", true},
           {kXgb, "trees", "trees/Gain", true},
           {kXgb, "labels", "labels", true},
           {kXgb, "labels", "labels_2", false},
       }) {
    HookConfig config;
    config.framework = c.framework;
    const config::Plan plan = config::MakePlan(config);
    EXPECT_EQ(plan.find(c.collection)->second.Matches(c.tensor), c.matches)
        << c.collection << " of " << config::FrameworkName(c.framework)
        << " and " << c.tensor;
  }
}

TEST(EditCollectionTest, CopiesABuiltInOnce) {
  HookConfig config;
  config.framework = Framework::kPyTorch;
  EditCollection(config, "weights").save_histogram = false;
  EditCollection(config, "weights").tensor_names.insert("w");
  ASSERT_EQ(config.collections.size(), 1u);
  EXPECT_THAT(config.collections[0].include_regex,
              ElementsAre("^(?!gradient).*weight"));
  EXPECT_FALSE(config.collections[0].save_histogram);
  EXPECT_THAT(config.collections[0].tensor_names, ElementsAre("w"));
}

TEST(EditCollectionTest, MakesAnEmptyOneForANewName) {
  HookConfig config;
  EXPECT_EQ(EditCollection(config, "relu"), Collection{.name = "relu"});
  EXPECT_EQ(config.collections.size(), 1u);
}

}  // namespace
}  // namespace smdebug
