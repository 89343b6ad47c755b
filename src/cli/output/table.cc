#include "src/cli/output/table.h"

#include <algorithm>
#include <numeric>

#include "src/cli/output/text.h"

namespace smdebug::cli {
namespace {

constexpr size_t kGap = 2;
constexpr size_t kLeastFirst = 24;

void TrimRight(std::string& line) {
  line.erase(line.find_last_not_of(' ') + 1);
}

}  // namespace

void Table::AddRow(std::vector<std::string> cells) {
  for (std::string& cell : cells) cell = Printable(cell);
  rows_.push_back(std::move(cells));
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
    for (const auto& row : rows_) width = std::max(width, TextWidth(row[i]));
    widths.push_back(width);
  }
  const size_t total = std::accumulate(widths.begin(), widths.end(),
                                       kGap * (columns_.size() - 1));
  if (terminal.is_terminal && total > terminal.width) {
    const size_t over = total - terminal.width;
    const size_t least = std::min(widths[0], kLeastFirst);
    widths[0] = std::max(least, widths[0] - std::min(over, widths[0]));
  }

  const std::string mark = terminal.utf8 ? "\xE2\x80\xA6" : "...";
  const auto line_of = [&](const auto& cell_of) {
    std::string line;
    for (size_t i = 0; i < columns_.size(); ++i) {
      const std::string cell = CutMiddle(cell_of(i), widths[i], mark);
      const std::string pad(widths[i] - TextWidth(cell), ' ');
      if (i > 0) line.append(kGap, ' ');
      line += columns_[i].align == Align::kRight ? pad + cell : cell + pad;
    }
    TrimRight(line);
    return line;
  };
  std::string text =
      Paint(terminal, Colour::kBold,
            line_of([&](size_t i) { return columns_[i].title; })) +
      '\n';
  for (const auto& row : rows_) {
    text += line_of([&](size_t i) { return row[i]; }) + '\n';
  }
  return text;
}

}  // namespace smdebug::cli
