#include <cmath>
#include <random>

#include "src/rules/builtin/testing.h"

namespace smdebug::rules {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(LossNotDecreasingTest, OldTestFiresAtTwelve) {
  FakeRun run;
  const std::vector<double> losses = {0.3, 0.33, 0.31, 0.30, 0.28};
  for (size_t i = 0; i < losses.size(); ++i) {
    run.At(static_cast<int64_t>(4 * i)).Put("loss", {losses[i]});
  }
  EXPECT_THAT(run.Fired("LossNotDecreasing"), ElementsAre(12));
  EXPECT_THAT(run.Fired("LossNotDecreasing", 13), IsEmpty());
}

TEST(LossNotDecreasingTest, ChecksAtTwelveTwentyFourThirtySix) {
  FakeRun run;
  for (int step = 0; step <= 36; step += 3) run.At(step).Put("loss", {1});
  EXPECT_THAT(run.Fired("LossNotDecreasing"), ElementsAre(12, 24, 36));
}

TEST(LossNotDecreasingTest, ToleratesASmallRiseOnly) {
  const auto fired = [](double before, double now) {
    FakeRun run;
    run.At(0).Put("loss", {before});
    run.At(10).Put("loss", {now});
    return !run.Fired("LossNotDecreasing").empty();
  };
  EXPECT_TRUE(fired(1, 1));
  EXPECT_TRUE(fired(1000, 999.5));
  EXPECT_FALSE(fired(1000, 998));
  EXPECT_FALSE(fired(100, 105));
  EXPECT_TRUE(fired(100, 105.1));
  EXPECT_TRUE(fired(-1, -0.9));
  EXPECT_TRUE(fired(0, 0));
  EXPECT_FALSE(fired(0, 1));
  EXPECT_FALSE(fired(0, -1));
  EXPECT_FALSE(fired(std::nan(""), 1));
}

TEST(LossNotDecreasingTest, ALossThatIsNaNOrInfiniteDoesNotFall) {
  const double infinity = std::numeric_limits<double>::infinity();
  for (const double lost : {std::nan(""), infinity}) {
    FakeRun run;
    for (int step = 0; step <= 40; ++step) {
      run.At(step).Put("loss", {step < 15 ? 10.0 - 0.1 * step : lost});
    }
    EXPECT_THAT(run.Fired("LossNotDecreasing"), ElementsAre(20, 30, 40));
    // From the third on.
    EXPECT_EQ(run.Fired("LossNotDecreasing:robust=true").front(), 17);
  }
}

TEST(LossNotDecreasingTest, RobustPassesOverTwoLossesThatAreNaN) {
  FakeRun run;
  for (int step = 0; step <= 40; ++step) {
    const bool is_lost = step == 15 || step == 16;
    run.At(step).Put("loss", {is_lost ? std::nan("") : 10.0 - 0.1 * step});
  }
  EXPECT_THAT(run.Fired("LossNotDecreasing:robust=true"), IsEmpty());
}

TEST(LossNotDecreasingTest, PrefersEvalThenTrain) {
  FakeRun run;
  run.At(0, Mode::kTrain, 0).Put("loss", {1});
  run.At(1, Mode::kTrain, 10).Put("loss", {1});
  run.At(2, Mode::kEval, 0).Put("loss", {1});
  run.At(3, Mode::kTrain, 20).Put("loss", {1});
  run.At(4, Mode::kEval, 10).Put("loss", {1});
  // At step 1 nothing of EVAL is known yet.
  EXPECT_THAT(run.Fired("LossNotDecreasing"), ElementsAre(1, 4));
  EXPECT_THAT(run.Fired("LossNotDecreasing:mode=TRAIN"), ElementsAre(1, 3));
  EXPECT_THAT(run.Fired("LossNotDecreasing:mode=eval"), ElementsAre(4));
  EXPECT_THAT(run.Fired("LossNotDecreasing:mode=GLOBAL:num_steps=4"),
              ElementsAre(4));
  EXPECT_THROW(run.Judge("LossNotDecreasing:mode=PREDICT"), ConfigError);
}

TEST(LossNotDecreasingTest, WithoutLossesEverySingleNumberIsOne) {
  FakeRun run;
  run.At(0).Put("error", {1}, {1}).Put("vector", {1, 1});
  run.At(10).Put("error", {1}, {1}).Put("vector", {1, 1});
  const auto findings = run.Judge("LossNotDecreasing");
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].tensor, "error");
  EXPECT_EQ(run.Judge("LossNotDecreasing:tensor_regex=vector").size(), 1U);
  EXPECT_EQ(run.Judge("LossNotDecreasing:use_losses_collection=false").size(),
            1U);
}

TEST(LossNotDecreasingTest, ASavedMeanIsEnough) {
  FakeRun run;
  run.At(0).PutReduction("loss", {ReductionOp::kMean}, 1);
  run.At(10).PutReduction("loss", {ReductionOp::kMean}, 1);
  EXPECT_THAT(run.Fired("LossNotDecreasing"), ElementsAre(10));
}

TEST(LossNotDecreasingTest, RefusesPercentsOutsideTheirRange) {
  FakeRun run;
  EXPECT_THROW(run.Judge("LossNotDecreasing:diff_percent=0"), ConfigError);
  EXPECT_THROW(run.Judge("LossNotDecreasing:increase_threshold_percent=100"),
               ConfigError);
  EXPECT_THROW(run.Judge("LossNotDecreasing:num_steps=2.5"), ConfigError);
}

// `count` losses around `level(i)` with noise of that part of it.
template <typename Level>
FakeRun Noisy(unsigned seed, int count, double noise, const Level& level) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  FakeRun run;
  for (int i = 0; i < count; ++i) {
    const double mean = level(i);
    run.At(i).Put("loss", {std::abs(mean * (1 + noise * normal(random)))});
  }
  return run;
}

TEST(LossNotDecreasingTest, RobustIsSilentOnHealthyRuns) {
  const std::string spec = "LossNotDecreasing:robust=true";
  for (unsigned seed = 0; seed < 20; ++seed) {
    const auto noisy = [](int i) { return 0.3 + 2 * std::exp(-i / 60.0); };
    EXPECT_THAT(Noisy(seed, 300, 0.5, noisy).Fired(spec), IsEmpty()) << seed;
    const auto fast = [](int i) { return i < 2 ? 2.3 : 0.1; };
    EXPECT_THAT(Noisy(seed, 100, 0.2, fast).Fired(spec), IsEmpty()) << seed;
    const auto slow = [](int i) { return 2.3 - 0.002 * i; };
    EXPECT_THAT(Noisy(seed, 200, 0.01, slow).Fired(spec), IsEmpty()) << seed;
    const auto converged = [](int) { return 0.01; };
    EXPECT_THAT(Noisy(seed, 100, 0.3, converged).Fired(spec), IsEmpty())
        << seed;
  }
}

TEST(LossNotDecreasingTest, RobustFiresOnLossesThatStayOrRise) {
  const std::string spec = "LossNotDecreasing:robust=true";
  for (unsigned seed = 0; seed < 20; ++seed) {
    const auto flat = [](int) { return 2.3; };
    EXPECT_FALSE(Noisy(seed, 100, 0.1, flat).Fired(spec).empty()) << seed;
    EXPECT_FALSE(Noisy(seed, 20, 0.05, flat).Fired(spec).empty()) << seed;
    const auto diverges = [](int i) {
      return i < 50 ? 2.3 - 0.03 * i : 0.8 + 0.05 * (i - 50);
    };
    EXPECT_FALSE(Noisy(seed, 120, 0.1, diverges).Fired(spec).empty()) << seed;
  }
}

}  // namespace
}  // namespace smdebug::rules
