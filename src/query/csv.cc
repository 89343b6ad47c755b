#include "src/query/csv.h"

#include <algorithm>

namespace smdebug::query {

void AppendCsvField(std::string_view text, std::string& line) {
  const auto is_special = [](char c) {
    return c == ',' || c == '"' || c == '\r' || c == '\n';
  };
  if (std::ranges::none_of(text, is_special)) {
    line += text;
    return;
  }
  line += '"';
  for (const char c : text) {
    if (c == '"') line += '"';
    line += c;
  }
  line += '"';
}

}  // namespace smdebug::query
