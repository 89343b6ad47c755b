#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace smdebug::cli {

// A drawing in characters. With UTF-8 a character holds 2 x 4 dots of Braille,
// without it one.
//
// Dots count from the left and from the top. One thread at a time.
class Canvas {
 public:
  // Neither `columns` nor `rows` is 0.
  Canvas(size_t columns, size_t rows, bool utf8);

  size_t dots_wide() const { return columns_ * dots_per_column_; }
  size_t dots_high() const { return rows_ * dots_per_row_; }
  size_t rows() const { return rows_; }

  // Both ends lie on the canvas. Of dots, or else of marks.
  void Line(size_t x0, size_t y0, size_t x1, size_t y1,
            std::string_view mark = {});

  // What is drawn where lines of different marks meet; unset: the later mark.
  void set_meeting(std::string_view mark) { meeting_ = mark; }
  // Whether any has been drawn.
  bool has_meeting() const;

  // One character over whatever is drawn at the dot.
  void Mark(size_t x, size_t y, std::string_view mark);

  // One row of characters, without blanks at its end.
  std::string Row(size_t row) const;

 private:
  struct Cell {
    uint8_t dots = 0;
    std::string_view mark = {};
  };

  Cell& At(size_t x, size_t y);
  void Dot(size_t x, size_t y);

  const size_t columns_;
  const size_t rows_;
  const bool utf8_;
  const size_t dots_per_column_;
  const size_t dots_per_row_;
  std::string_view meeting_ = {};
  std::vector<Cell> cells_;
};

}  // namespace smdebug::cli
