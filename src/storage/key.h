#pragma once

#include <string_view>

namespace smdebug::storage {

// The ending of files being written. Readers of a run ignore it, so no key may
// have it.
inline constexpr std::string_view kPendingSuffix = ".tmp";

// Whether `key` is of the form that Storage asks for.
bool IsValidKey(std::string_view key) noexcept;

// Throws std::invalid_argument, naming the key and the form, for any other.
void CheckKey(std::string_view key);

}  // namespace smdebug::storage
