#pragma once

#include <cstddef>
#include <span>

namespace smdebug::fuzz {

// Decodes `record` and checks what a decoded tensor promises: all that it
// borrows lies in the record, its content fills its shape, and encoded again it
// decodes equal. Anything but that and FormatError gets out. Thread-safe.
void CheckTensorRecord(std::span<const std::byte> record);

}  // namespace smdebug::fuzz
