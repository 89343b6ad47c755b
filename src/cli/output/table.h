#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "src/cli/output/terminal.h"

namespace smdebug::cli {

// A table for people: columns as wide as their widest cell, two blanks apart.
//
// On a terminal that is too narrow the cells of the first column are cut in
// their middle, but never below 24 characters; elsewhere nothing is cut.
//
// One thread at a time.
class Table {
 public:
  enum class Align { kLeft, kRight };
  struct Column {
    std::string title;
    Align align = Align::kLeft;
  };

  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  // One cell per column. Control characters are made printable.
  void AddRow(std::vector<std::string> cells);

  // The same with cells of several lines under one another.
  void AddTallRow(const std::vector<std::vector<std::string>>& cells);

  bool empty() const { return rows_.empty(); }

  // The titles and the rows. Ends each line with a newline and none with a
  // blank.
  std::string Layout(const Terminal& terminal) const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace smdebug::cli
