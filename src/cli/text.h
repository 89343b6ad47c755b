#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace smdebug::cli {

// `text` with control characters shown as '?'. Names and messages come from
// files, and none of them may drive a terminal.
std::string Printable(std::string_view text);

// Characters, not bytes: names may be in any language.
size_t TextWidth(std::string_view text);

// `text` in at most `width` characters, with `mark` in the middle in place of
// what had to go.
std::string CutMiddle(std::string_view text, size_t width,
                      std::string_view mark = "...");

// "1 step", "2 steps".
std::string Counted(int64_t count, std::string_view noun);

// "a, b, c".
std::string Join(std::span<const std::string> parts,
                 std::string_view separator = ", ");

// For people: six significant digits, whole numbers whole; "nan", "inf".
std::string ShortNumber(double value);

// The shortest text that reads back equal; "nan", "inf", "-inf".
std::string ExactNumber(double value);

// "0 B", "999 B", "1.5 KiB", "2.0 GiB".
std::string HumanBytes(uint64_t bytes);
// "12 s", "5 min", "3 h", "2 d".
std::string HumanAge(double seconds);

// "(3, 4)", "(3,)", "()": as NumPy writes a shape.
std::string ShapeText(std::span<const int64_t> shape);

}  // namespace smdebug::cli
