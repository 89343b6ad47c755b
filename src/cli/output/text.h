#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "src/cli/output/terminal.h"
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

// `text` in lines of at most `width` characters, broken between words; a word
// that is longer is broken itself.
std::vector<std::string> WrapWords(std::string_view text, size_t width);

// `text` with lines that are too long for the terminal broken between words,
// the rest behind `indent` blanks. No word is broken, for people copy names and
// paths; elsewhere than on a terminal nothing is.
std::string FitLines(std::string_view text, const Terminal& terminal,
                     size_t indent);

// "0 B", "999 B", "1.5 KiB", "2.0 GiB".
std::string HumanBytes(uint64_t bytes);
// "12 s", "5 min", "3 h", "2 d".
std::string HumanAge(double seconds);

}  // namespace smdebug::cli
