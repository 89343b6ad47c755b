#include "src/config/nearest.h"

#include <array>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

namespace smdebug::config {
namespace {

constexpr std::array<std::string_view, 3> kNames = {"save_steps", "save_shape",
                                                    "dry_run"};

TEST(NearestTest, FindsWhatWasMeant) {
  EXPECT_EQ(Nearest("save_step", kNames), "save_steps");
  EXPECT_EQ(Nearest("saveshape", kNames), "save_shape");
  EXPECT_EQ(Nearest("DRY_RUN", kNames), "dry_run");
  EXPECT_EQ(Nearest("dryrn", kNames), "");
}

TEST(NearestTest, GivesUpOnWhatIsFar) {
  EXPECT_EQ(Nearest("", kNames), "");
  EXPECT_EQ(Nearest("zebra", kNames), "");
  EXPECT_EQ(Nearest(std::string(100'000, 's'), kNames), "");
}

}  // namespace
}  // namespace smdebug::config
