#include "src/rules/builtin/testing.h"

namespace smdebug::rules {
namespace {

using ::testing::ElementsAre;

TEST(NLPSequenceRatioTest, FiresAboveTheThresholdOnly) {
  FakeRun run;
  run.At(0).PutInts("embedding0_input_0", {0, 0, 5, 6}, {2, 2});
  run.At(1).PutInts("embedding0_input_0", {0, 0, 0, 6}, {2, 2});
  run.At(2).PutInts("embedding0_input_0", {3, 3, 3, 0}, {2, 2});
  EXPECT_THAT(run.Fired("NLPSequenceRatio"), ElementsAre(1));
  EXPECT_THAT(run.Fired("NLPSequenceRatio:token_values=3, 0"),
              ElementsAre(1, 2));
  EXPECT_THAT(run.Fired("NLPSequenceRatio:token_values=3,0:"
                        "token_thresholds_percent=75,20"),
              ElementsAre(0, 1, 2));
}

TEST(NLPSequenceRatioTest, RefusesListsThatDoNotFit) {
  FakeRun run;
  EXPECT_THROW(run.Judge("NLPSequenceRatio:token_thresholds_percent=50,50"),
               InsufficientInformation);
  EXPECT_THROW(run.Judge("NLPSequenceRatio:token_values=a"), ConfigError);
  EXPECT_THROW(run.Judge("NLPSequenceRatio:token_thresholds_percent=101"),
               ConfigError);
}

TEST(NLPSequenceRatioTest, KnowsTheNamesOfFrameworks) {
  FakeRun run;
  run.Collect("input_sequence", "^tokens$");
  run.At(0);
  for (const char* name :
       {"embedding_input_0", "model.embed_tokens_input_0", "embedding/inputs",
        "tokens", "bert.token_type_embeddings_input_0",
        "position_embeddings_input_0", "embedding_output_0"}) {
    run.PutInts(name, {0});
  }
  EXPECT_EQ(run.Judge("NLPSequenceRatio").size(), 4U);
}

TEST(NLPSequenceRatioTest, RobustTakesStepsTogether) {
  FakeRun run;
  for (int step = 0; step < 6; ++step) {
    run.At(step)
        .PutInts("embedding_input_0", {0, 0, step == 1 ? 0 : 1, 1, 2})
        .PutInts("emb_input_0", {0, 0, 0, 1});
  }
  EXPECT_THAT(run.Fired("NLPSequenceRatio:tensor_regex=embedding"),
              ElementsAre(1));
  const auto findings = run.Judge("NLPSequenceRatio:robust=true");
  ASSERT_EQ(findings.size(), 4U);
  EXPECT_EQ(findings[0].tensor, "emb_input_0");
  EXPECT_EQ(findings[0].step, 2);
}

}  // namespace
}  // namespace smdebug::rules
