#include "src/cli/output/table.h"

#include <algorithm>
#include <cstddef>
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

// Of the columns from `first` on, with what is between them.
size_t Total(const std::vector<size_t>& widths, size_t first) {
  if (first >= widths.size()) return 0;
  return std::accumulate(widths.begin() + static_cast<std::ptrdiff_t>(first),
                         widths.end(), kGap * (widths.size() - first - 1));
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
  std::vector<size_t> widths = FullWidths();
  bool is_stacked = false;
  if (terminal.is_terminal && Total(widths, 0) > terminal.width) {
    Narrow(Total(widths, 0) - terminal.width, widths);
    if (Total(widths, 0) > terminal.width) {
      std::vector<size_t> below = FullWidths();
      const size_t total = Total(below, 1) + kGap;
      Narrow(total - std::min(total, terminal.width), below);
      is_stacked = below[0] <= terminal.width &&
                   Total(below, 1) + kGap <= terminal.width;
      if (is_stacked) widths = below;
    }
  }

  // The columns from `first` up to `last`.
  const auto line_of = [&](const std::vector<std::string>& cells,
                           const std::set<size_t>& red, size_t first,
                           size_t last) {
    std::string line(is_stacked && first > 0 ? kGap : 0, ' ');
    for (size_t i = first; i < last; ++i) {
      const std::string pad(widths[i] - TextWidth(cells[i]), ' ');
      if (i > first) line.append(kGap, ' ');
      const std::string cell =
          red.contains(i) ? Paint(terminal, Colour::kRed, cells[i]) : cells[i];
      line += columns_[i].align == Align::kRight ? pad + cell : cell + pad;
    }
    TrimRight(line);
    return line;
  };
  const size_t all = columns_.size();
  const auto lines_of = [&](const std::vector<std::string>& cells,
                            const std::set<size_t>& red) {
    std::vector<std::string> lines;
    if (is_stacked && !cells[0].empty()) {
      lines.push_back(line_of(cells, red, 0, 1));
    }
    for (const auto& part : LinesOf(cells, widths)) {
      lines.push_back(line_of(part, red, is_stacked ? 1 : 0, all));
    }
    return lines;
  };
  std::vector<std::string> titles;
  for (const Column& column : columns_) titles.push_back(column.title);
  std::string text;
  for (const std::string& line : lines_of(titles, {})) {
    text += Paint(terminal, Colour::kBold, line) + '\n';
  }
  for (const Row& row : rows_) {
    for (const std::string& line : lines_of(row.cells, row.red)) {
      text += line + '\n';
    }
  }
  return text;
}

std::vector<size_t> Table::FullWidths() const {
  std::vector<size_t> widths;
  for (size_t i = 0; i < columns_.size(); ++i) {
    size_t width = TextWidth(columns_[i].title);
    for (const Row& row : rows_) {
      width = std::max(width, TextWidth(row.cells[i]));
    }
    widths.push_back(width);
  }
  return widths;
}

void Table::Narrow(size_t over, std::vector<size_t>& widths) const {
  // The first column has nothing to give.
  std::vector<size_t> room(columns_.size());
  for (size_t i = 1; i < columns_.size(); ++i) {
    size_t least = TextWidth(columns_[i].title);
    for (const Row& row : rows_) {
      least = std::max(least, LongestWord(row.cells[i]));
    }
    room[i] = widths[i] - least;
  }
  while (over > 0) {
    const auto most = std::ranges::max_element(room);
    const size_t taken = std::min(over, *most);
    if (taken == 0) return;
    widths[static_cast<size_t>(most - room.begin())] -= taken;
    *most = 0;
    over -= taken;
  }
}

}  // namespace smdebug::cli
