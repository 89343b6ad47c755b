#pragma once

#include <string>
#include <string_view>

namespace smdebug::query {

// Adds `text` as one field of a CSV line (RFC 4180): quoted where it holds a
// comma, a quote or a line break.
void AppendCsvField(std::string_view text, std::string& line);

}  // namespace smdebug::query
