#include "src/cli/output/table.h"

#include <algorithm>
#include <numeric>

#include "src/cli/output/text.h"

namespace smdebug::cli {
namespace {

constexpr size_t kGap = 2;

void TrimRight(std::string& line) {
  line.erase(line.find_last_not_of(' ') + 1);
}

size_t LongestWord(std::string_view text) {
  size_t longest = 0;
  while (!text.empty()) {
    const size_t end = std::min(text.find(' '), text.size());
    longest = std::max(longest, TextWidth(text.substr(0, end)));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return longest;
}

// The cells of a row, each wrapped to the width of its column.
std::vector<std::vector<std::string>> LinesOf(
    const std::vector<std::string>& row, const std::vector<size_t>& widths) {
  std::vector<std::vector<std::string>> lines(1);
  lines[0].resize(row.size());
  for (size_t i = 0; i < row.size(); ++i) {
    if (TextWidth(row[i]) <= widths[i]) {
      lines[0][i] = row[i];
      continue;
    }
    const std::vector<std::string> parts = WrapWords(row[i], widths[i]);
    for (size_t line = 0; line < parts.size(); ++line) {
      if (line == lines.size()) lines.emplace_back(row.size());
      lines[line][i] = parts[line];
    }
  }
  return lines;
}

}  // namespace

void Table::AddRow(std::vector<std::string> cells) {
  for (std::string& cell : cells) cell = Printable(cell);
  rows_.push_back({std::move(cells)});
}

void Table::AddTallRow(const std::vector<std::vector<std::string>>& cells) {
  for (size_t i = 0;; ++i) {
    std::vector<std::string> line;
    bool filled = false;
    for (const auto& cell : cells) {
      filled |= i < cell.size();
      line.push_back(i < cell.size() ? cell[i] : "");
    }
    if (!filled) return;
    AddRow(std::move(line));
  }
}

std::string Table::Layout(const Terminal& terminal) const {
  std::vector<size_t> widths;
  for (size_t i = 0; i < columns_.size(); ++i) {
    size_t width = TextWidth(columns_[i].title);
    for (const Row& row : rows_) {
      width = std::max(width, TextWidth(row.cells[i]));
    }
    widths.push_back(width);
  }
  const size_t total = std::accumulate(widths.begin(), widths.end(),
                                       kGap * (columns_.size() - 1));
  if (terminal.is_terminal && total > terminal.width) {
    Narrow(total - terminal.width, widths);
  }

  const auto line_of = [&](const std::vector<std::string>& cells,
                           const std::set<size_t>& red) {
    std::string line;
    for (size_t i = 0; i < columns_.size(); ++i) {
      const std::string pad(widths[i] - TextWidth(cells[i]), ' ');
      if (i > 0) line.append(kGap, ' ');
      const std::string cell =
          red.contains(i) ? Paint(terminal, Colour::kRed, cells[i]) : cells[i];
      line += columns_[i].align == Align::kRight ? pad + cell : cell + pad;
    }
    TrimRight(line);
    return line;
  };
  std::vector<std::string> titles;
  for (const Column& column : columns_) titles.push_back(column.title);
  std::string text = Paint(terminal, Colour::kBold, line_of(titles, {})) + '\n';
  for (const Row& row : rows_) {
    for (const auto& cells : LinesOf(row.cells, widths)) {
      text += line_of(cells, row.red) + '\n';
    }
  }
  return text;
}

void Table::Narrow(size_t over, std::vector<size_t>& widths) const {
  size_t chosen = 0;
  size_t most = 0;
  for (size_t i = 1; i < columns_.size(); ++i) {
    size_t least = TextWidth(columns_[i].title);
    for (const Row& row : rows_) {
      least = std::max(least, LongestWord(row.cells[i]));
    }
    if (widths[i] - least > most) {
      most = widths[i] - least;
      chosen = i;
    }
  }
  widths[chosen] -= std::min(over, most);
}

}  // namespace smdebug::cli
