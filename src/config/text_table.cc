#include "src/config/text_table.h"

#include <algorithm>
#include <utility>

namespace smdebug::config {
namespace {

// Characters, not bytes: names and regexes may be in any language.
size_t Width(const std::string& text) {
  return static_cast<size_t>(std::ranges::count_if(text, [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
}

}  // namespace

void TextTable::AddRow(std::vector<Cell> cells) {
  rows_.push_back(std::move(cells));
}

std::string TextTable::Layout() const {
  std::vector<size_t> widths;
  for (const auto& row : rows_) {
    widths.resize(std::max(widths.size(), row.size()));
    for (size_t column = 0; column < row.size(); ++column) {
      for (const std::string& line : row[column]) {
        widths[column] = std::max(widths[column], Width(line));
      }
    }
  }
  std::string text;
  for (const auto& row : rows_) {
    size_t height = 0;
    for (const Cell& cell : row) height = std::max(height, cell.size());
    for (size_t i = 0; i < height; ++i) {
      std::string line;
      for (size_t column = 0; column < row.size(); ++column) {
        const std::string part = i < row[column].size() ? row[column][i] : "";
        line += part + std::string(widths[column] - Width(part) + 2, ' ');
      }
      line.erase(line.find_last_not_of(' ') + 1);
      text += line + '\n';
    }
  }
  return text;
}

}  // namespace smdebug::config
