#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "smdebug/storage.h"
#include "smdebug/trial.h"
#include "src/trial/catalog.h"

namespace smdebug::trial {

// Where one record lies and what it must hold. Borrows its texts.
struct RecordPlace {
  std::string_view event_key;
  std::string_view tensor;
  Entry entry;
};

// Reads the record at `place`. nullopt if there is no such event file. Throws
// FormatError if the bytes are not that record: cut short, of a wrong
// checksum (where `verify` and the index has one), or of another tensor.
// Throws IoError. Thread-safe.
std::optional<Value> ReadValue(const Storage& storage, const RecordPlace& place,
                               bool verify);

// The same, of a record that was read already: `blob` holds `place`.
Value DecodeValue(Blob blob, const RecordPlace& place, bool verify);

}  // namespace smdebug::trial
