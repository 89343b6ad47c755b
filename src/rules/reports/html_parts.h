#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace smdebug::rules {

using Row = std::vector<std::string>;

// A table with a head; the first cell of a row names it. Cells are plain text.
std::string Table(std::string_view caption, const Row& head,
                  const std::vector<Row>& rows);

// A part of a page with a heading. `body` is HTML.
std::string Section(std::string_view title, std::string_view body);

// A chart and its table, beside each other where there is room.
std::string Pair(std::string_view chart, std::string_view table);

// The CSS of pages, for light and for dark.
std::string_view PageStyle();

}  // namespace smdebug::rules
