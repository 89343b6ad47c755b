#pragma once

#include <string>
#include <string_view>

namespace smdebug::rules {

// Text as it stands in HTML and XML, also within quotes. What XML does not
// allow is left out.
std::string EscapeXml(std::string_view text);

}  // namespace smdebug::rules
