#pragma once

#include <string_view>

#include "smdebug/storage.h"
#include "smdebug/trial.h"
#include "src/trial/catalog.h"

namespace smdebug::trial {

// Which record it must be. Borrows its text.
struct RecordPlace {
  std::string_view tensor;
  Entry entry;
};

// The value of a record, of which `blob` is what is there. Throws FormatError,
// which does not know the file, if the bytes are not that record: cut short, of
// a wrong checksum (where `verify` and the index has one), or of another
// tensor. Thread-safe.
Value DecodeValue(Blob blob, const RecordPlace& place, bool verify);

}  // namespace smdebug::trial
