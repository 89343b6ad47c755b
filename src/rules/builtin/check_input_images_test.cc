#include "src/rules/builtin/testing.h"

namespace smdebug::rules {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// `count` images of two channels of two pixels, each around its mean.
std::vector<double> Images(int count, double first, double second,
                           double spread) {
  std::vector<double> values;
  for (int i = 0; i < count; ++i) {
    for (const double mean : {first, second}) {
      values.push_back(mean - spread);
      values.push_back(mean + spread);
    }
  }
  return values;
}

constexpr const char* kInput = "hybridsequential0_input_0";

TEST(CheckInputImagesTest, FiresOnceEnoughImagesAreOff) {
  FakeRun run;
  for (int step = 0; step < 3; ++step) {
    run.At(step).Put(kInput, Images(250, 0, -0.5, 1), {250, 2, 1, 2});
  }
  const auto findings = run.Judge("CheckInputImages");
  ASSERT_EQ(findings.size(), 2U);
  EXPECT_EQ(findings[0].step, 1);
  EXPECT_EQ(findings[0].value, -0.5);
  EXPECT_THAT(run.Fired("CheckInputImages:threshold_mean=0.5"), IsEmpty());
  EXPECT_THAT(run.Fired("CheckInputImages:threshold_samples=251"),
              ElementsAre(1, 2));
}

TEST(CheckInputImagesTest, ChannelIsAnAxis) {
  FakeRun run;
  run.At(0).Put(kInput, {1, -1, 1, -1}, {2, 2});
  const std::string spec = "CheckInputImages:threshold_samples=2";
  EXPECT_THAT(run.Fired(spec), ElementsAre(0));
  // Without that axis all is one channel, whose mean is 0.
  EXPECT_THAT(run.Fired(spec + ":channel=2"), IsEmpty());
}

TEST(CheckInputImagesTest, KnowsTheNamesOfFrameworks) {
  FakeRun run;
  run.Collect("input_image", "^pixels$");
  run.At(0);
  for (const char* name : {"Net_input_0", "inputs", "pixels", "fc_input_0",
                           "CrossEntropyLoss_input_0"}) {
    run.Put(name, {1, 1}, {2, 1});
  }
  EXPECT_EQ(run.Judge("CheckInputImages:threshold_samples=2").size(), 3U);
}

TEST(CheckInputImagesTest, RobustTellsPixelsFromNormalisedImages) {
  FakeRun pixels;
  FakeRun dark;
  FakeRun tokens;
  for (int step = 0; step < 2; ++step) {
    pixels.At(step).Put("Net_input_0", Images(250, 0.5, 0.4, 0.3),
                        {250, 2, 1, 2});
    dark.At(step).Put("Net_input_0", Images(250, -0.3, 0, 1), {250, 2, 1, 2});
    tokens.At(step).Put("Net_input_0", Images(250, 7, 9, 1), {500, 2});
  }
  EXPECT_THAT(pixels.Fired("CheckInputImages:robust=true"), ElementsAre(1));
  EXPECT_THAT(dark.Fired("CheckInputImages"), ElementsAre(1));
  EXPECT_THAT(dark.Fired("CheckInputImages:robust=true"), IsEmpty());
  EXPECT_THAT(tokens.Fired("CheckInputImages:robust=true"), IsEmpty());
}

}  // namespace
}  // namespace smdebug::rules
