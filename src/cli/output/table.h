#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "src/cli/output/terminal.h"

namespace smdebug::cli {

// A table for people: columns as wide as their widest cell, two blanks apart.
//
// On a terminal that is too narrow the words of columns, not of the first, go
// to several lines; where that is not enough, the first column has lines of its
// own. Nothing is ever cut: people copy names.
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

  // Has the cell of the last row in `column` red where the terminal is in
  // colour: someone should look at it.
  void Redden(size_t column) { rows_.back().red.insert(column); }

  // AddRow() with cells of several lines under one another.
  void AddTallRow(const std::vector<std::vector<std::string>>& cells);

  bool empty() const { return rows_.empty(); }

  // The titles and the rows. Ends each line with a newline and none with a
  // blank.
  std::string Layout(const Terminal& terminal) const;

 private:
  struct Row {
    std::vector<std::string> cells;
    std::set<size_t> red = {};
  };

  std::vector<size_t> FullWidths() const;

  // Takes up to `over` from the columns whose words leave the most room.
  void Narrow(size_t over, std::vector<size_t>& widths) const;

  std::vector<Column> columns_;
  std::vector<Row> rows_;
};

}  // namespace smdebug::cli
