#include "src/config/nearest.h"

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace smdebug::config {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr std::array<std::string_view, 3> kNames = {"save_steps", "save_shape",
                                                    "dry_run"};

TEST(NearestTest, FindsWhatWasMeant) {
  EXPECT_EQ(Nearest("save_step", kNames), "save_steps");
  EXPECT_EQ(Nearest("saveshape", kNames), "save_shape");
  EXPECT_EQ(Nearest("DRY_RUN", kNames), "dry_run");
  EXPECT_EQ(Nearest("dryrn", kNames), "");
}

TEST(NearestTest, TwoLettersThatAreSwappedAreOneMistake) {
  EXPECT_EQ(EditDistance("trian", "train"), 1);
  EXPECT_EQ(EditDistance("abcd", "badc"), 2);
  EXPECT_EQ(EditDistance("ab", "cb"), 1);
  EXPECT_EQ(EditDistance("", "abc"), 3);
  EXPECT_EQ(EditDistance("abc", ""), 3);
  EXPECT_EQ(DidYouMean("trian", std::vector<std::string>{"train", "eval"}),
            "did you mean 'train'?");
}

TEST(NearestTest, GivesUpOnWhatIsFar) {
  EXPECT_EQ(Nearest("", kNames), "");
  EXPECT_EQ(Nearest("zebra", kNames), "");
  EXPECT_EQ(Nearest(std::string(100'000, 's'), kNames), "");
}

const std::vector<std::string> kTensors = {"conv1.bias", "conv1.weight",
                                           "fc.weight", "loss"};

TEST(NearNamesTest, MisspeltNamesComeBeforeNamesThatHoldTheText) {
  EXPECT_THAT(NearNames("fc.wieght", kTensors), ElementsAre("fc.weight"));
  EXPECT_THAT(NearNames("LOSS", kTensors), ElementsAre("loss"));
  EXPECT_THAT(NearNames("weight", kTensors),
              ElementsAre("fc.weight", "conv1.weight"));
  EXPECT_THAT(NearNames("weight", kTensors, 1), ElementsAre("fc.weight"));
  EXPECT_THAT(NearNames("momentum", kTensors), IsEmpty());
  EXPECT_THAT(NearNames("", kTensors), IsEmpty());
}

TEST(NearNamesTest, WhatIsAllowedComesWithWhatWasMeant) {
  EXPECT_EQ(OneOf("los", kTensors),
            "one of conv1.bias, conv1.weight, fc.weight, loss; did you mean "
            "'loss'?");
  EXPECT_EQ(OneOf("momentum", kTensors),
            "one of conv1.bias, conv1.weight, fc.weight, loss");
  EXPECT_EQ(OneOf("los", {"loss"}), "loss");
  EXPECT_EQ(DidYouMean("weight", kTensors),
            "did you mean 'fc.weight' or 'conv1.weight'?");
  EXPECT_EQ(DidYouMean(std::string(100'000, 'w'), kTensors), "");
}

}  // namespace
}  // namespace smdebug::config
