#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "src/base/text.h"

// Words and numbers in sentences for people.
namespace smdebug::query {

// `text` with control characters shown as '?'. Names and messages come from
// files, and none of them may drive a terminal.
std::string Printable(std::string_view text);

using base::Counted;

// "a, b, c".
std::string Join(std::span<const std::string> parts,
                 std::string_view separator = ", ");

// The first `most` of them: "a, b and 5 more"; all if there is one more.
std::string JoinSome(std::span<const std::string> parts, size_t most);

// For people: six significant digits, whole numbers whole; "nan", "inf".
std::string ShortNumber(double value);

// The shortest text that reads back equal; "nan", "inf", "-inf".
std::string ExactNumber(double value);
void AppendExactNumber(double value, std::string& text);

// "(3, 4)", "(3,)", "()": as NumPy writes a shape.
std::string ShapeText(std::span<const int64_t> shape);

}  // namespace smdebug::query
