#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "src/query/text.h"

namespace smdebug::cli {

using query::Counted;
using query::ExactNumber;
using query::Join;
using query::JoinSome;
using query::Printable;
using query::ShapeText;
using query::ShortNumber;

// Characters, not bytes: names may be in any language.
size_t TextWidth(std::string_view text);

// `text` in at most `width` characters, with `mark` in the middle in place of
// what had to go.
std::string CutMiddle(std::string_view text, size_t width,
                      std::string_view mark = "...");

// `text` in lines of at most `width` characters, broken between words; a word
// that is longer is broken itself.
std::vector<std::string> WrapWords(std::string_view text, size_t width);

// "0 B", "999 B", "1.5 KiB", "2.0 GiB".
std::string HumanBytes(uint64_t bytes);
// "12 s", "5 min", "3 h", "2 d".
std::string HumanAge(double seconds);

}  // namespace smdebug::cli
