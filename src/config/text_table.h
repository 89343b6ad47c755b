#pragma once

#include <string>
#include <vector>

namespace smdebug::config {

// A table for people: columns as wide as their widest cell, two blanks apart,
// cells of several lines under one another.
//
// One thread at a time.
class TextTable {
 public:
  using Cell = std::vector<std::string>;  // Its lines.

  // Every row has as many cells as the first.
  void AddRow(std::vector<Cell> cells);

  // Ends each line with a newline and no line with a blank.
  std::string Layout() const;

 private:
  std::vector<std::vector<Cell>> rows_;
};

}  // namespace smdebug::config
