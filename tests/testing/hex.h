#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace smdebug::testing {

// The bytes that hexadecimal text stands for. Blanks and '|' between them are
// for the eye only. Throws for anything else.
inline std::string FromHex(std::string_view hex) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string bytes;
  size_t high = std::string_view::npos;
  for (const char c : hex) {
    if (c == ' ' || c == '\n' || c == '|') continue;
    const size_t digit = kDigits.find(c);
    if (digit == std::string_view::npos) {
      throw std::invalid_argument("not hexadecimal: " + std::string(hex));
    }
    if (high == std::string_view::npos) {
      high = digit;
      continue;
    }
    bytes.push_back(static_cast<char>(high << 4 | digit));
    high = std::string_view::npos;
  }
  if (high != std::string_view::npos) {
    throw std::invalid_argument("half a byte at the end: " + std::string(hex));
  }
  return bytes;
}

inline std::string ToHex(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string hex;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    hex.push_back(kDigits[byte >> 4]);
    hex.push_back(kDigits[byte & 15]);
  }
  return hex;
}

}  // namespace smdebug::testing
