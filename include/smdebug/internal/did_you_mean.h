#pragma once

#include <span>
#include <string>
#include <string_view>

namespace smdebug::config {

// "did you mean 'a' or 'b'?"; empty if none of `names` is near `name`.
std::string DidYouMean(std::string_view name,
                       std::span<const std::string> names);

// The same for patterns none of which matches any of `names`, by their words:
// what is near is one of `names`, a word in one, or one of `hints`.
std::string DidPatternsMean(std::span<const std::string> patterns,
                            std::span<const std::string> names,
                            std::span<const std::string> hints = {});

}  // namespace smdebug::config
