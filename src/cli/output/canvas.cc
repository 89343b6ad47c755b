#include "src/cli/output/canvas.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace smdebug::cli {
namespace {

// Bits of the Braille block (Unicode 2800..28FF) by row and column of the dot.
constexpr std::array<std::array<uint8_t, 2>, 4> kBraille = {
    {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}}};

std::string BrailleCharacter(uint8_t dots) {
  std::string text = "\xE2\xA0\x80";
  text[1] = static_cast<char>(0xA0 | (dots >> 6));
  text[2] = static_cast<char>(0x80 | (dots & 0x3F));
  return text;
}

}  // namespace

Canvas::Canvas(size_t columns, size_t rows, bool utf8)
    : columns_(columns),
      rows_(rows),
      utf8_(utf8),
      dots_per_column_(utf8 ? 2 : 1),
      dots_per_row_(utf8 ? 4 : 1),
      cells_(columns * rows) {}

Canvas::Cell& Canvas::At(size_t x, size_t y) {
  return cells_[y / dots_per_row_ * columns_ + x / dots_per_column_];
}

void Canvas::Dot(size_t x, size_t y) {
  At(x, y).dots |= kBraille[y % dots_per_row_][x % dots_per_column_];
}

void Canvas::Line(size_t x0, size_t y0, size_t x1, size_t y1,
                  std::string_view mark) {
  const auto across = static_cast<double>(x1) - static_cast<double>(x0);
  const auto down = static_cast<double>(y1) - static_cast<double>(y0);
  const auto dots =
      static_cast<size_t>(std::max(std::abs(across), std::abs(down)));
  for (size_t i = 0; i <= dots; ++i) {
    const double share =
        dots > 0 ? static_cast<double>(i) / static_cast<double>(dots) : 0;
    const auto x = static_cast<size_t>(
        std::lround(static_cast<double>(x0) + share * across));
    const auto y = static_cast<size_t>(
        std::lround(static_cast<double>(y0) + share * down));
    if (mark.empty()) {
      Dot(x, y);
    } else {
      const std::string_view there = At(x, y).mark;
      const bool meets = !meeting_.empty() && !there.empty() && there != mark;
      Mark(x, y, meets ? meeting_ : mark);
    }
  }
}

bool Canvas::has_meeting() const {
  return !meeting_.empty() &&
         std::ranges::find(cells_, meeting_, &Cell::mark) != cells_.end();
}

void Canvas::Mark(size_t x, size_t y, std::string_view mark) {
  At(x, y).mark = mark;
}

std::string Canvas::Row(size_t row) const {
  std::string text;
  size_t used = 0;  // Without the blanks at the end.
  for (size_t column = 0; column < columns_; ++column) {
    const Cell& cell = cells_[row * columns_ + column];
    if (!cell.mark.empty()) {
      text += cell.mark;
    } else if (cell.dots == 0) {
      text += ' ';
      continue;
    } else {
      text += utf8_ ? BrailleCharacter(cell.dots) : "*";
    }
    used = text.size();
  }
  text.resize(used);
  return text;
}

}  // namespace smdebug::cli
