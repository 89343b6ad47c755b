#pragma once

#include <string>
#include <string_view>

namespace smdebug::query {

// `text` as one field of a CSV line (RFC 4180): quoted where it holds a comma,
// a quote or a line break.
std::string CsvField(std::string_view text);

}  // namespace smdebug::query
