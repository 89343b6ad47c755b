#include "src/cli/output/canvas.h"

#include <gtest/gtest.h>

namespace smdebug::cli {
namespace {

TEST(CanvasTest, AsciiHasOneDotPerCharacter) {
  Canvas canvas(5, 3, false);
  EXPECT_EQ(canvas.dots_wide(), 5u);
  EXPECT_EQ(canvas.dots_high(), 3u);
  canvas.Line(0, 2, 4, 0);
  EXPECT_EQ(canvas.Row(0), "    *");
  EXPECT_EQ(canvas.Row(1), "  **");
  EXPECT_EQ(canvas.Row(2), "**");
}

TEST(CanvasTest, BrailleHasEightDotsPerCharacter) {
  Canvas canvas(2, 1, true);
  EXPECT_EQ(canvas.dots_wide(), 4u);
  EXPECT_EQ(canvas.dots_high(), 4u);
  EXPECT_EQ(canvas.Row(0), "");
  canvas.Line(1, 0, 1, 3);
  EXPECT_EQ(canvas.Row(0), "\xE2\xA2\xB8");  // U+28B8, the right column.
  canvas.Line(0, 0, 0, 3);
  EXPECT_EQ(canvas.Row(0), "\xE2\xA3\xBF");  // U+28FF, all eight.
  canvas.Line(3, 3, 3, 3);
  EXPECT_EQ(canvas.Row(0), "\xE2\xA3\xBF\xE2\xA2\x80");
}

TEST(CanvasTest, AMarkIsSeenOverALine) {
  Canvas canvas(3, 1, false);
  canvas.Line(0, 0, 2, 0);
  canvas.Mark(1, 0, "x");
  EXPECT_EQ(canvas.Row(0), "*x*");
}

}  // namespace
}  // namespace smdebug::cli
