#pragma once

#include <span>
#include <string>
#include <string_view>

namespace smdebug::config {

// "did you mean 'a' or 'b'?"; empty if none of `names` is near `name`.
std::string DidYouMean(std::string_view name,
                       std::span<const std::string> names);

}  // namespace smdebug::config
