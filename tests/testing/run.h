#pragma once

#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "smdebug/storage.h"
#include "smdebug/tensor.h"
#include "src/base/crc32c.h"
#include "src/index/step_index.h"
#include "src/record/record.h"
#include "src/record/tensor_event.h"
#include "src/run/keys.h"
#include "tests/testing/files.h"

// Reads a run back for the tests of the write side, file by file and without
// any convenience, so that what they check is what lies in the files.
namespace smdebug::testing {

// The index of one step; nullopt if there is none.
inline std::optional<index::StepIndex> ReadIndex(
    const Storage& storage, int64_t step,
    std::string_view worker = "worker_0") {
  const std::string key = run::IndexFileKey(step, worker);
  const auto text = GetFile(storage, key);
  if (!text) return std::nullopt;
  return index::ParseStepIndex(*text, key);
}

// The steps that have an index, in order.
inline std::vector<int64_t> Steps(const Storage& storage,
                                  std::string_view worker = "worker_0") {
  std::vector<int64_t> steps;
  for (const FileInfo& file : storage.List("index/")) {
    const auto parsed = run::ParseStepFileKey(file.key);
    if (parsed && parsed->worker == worker) steps.push_back(parsed->step);
  }
  return steps;
}

// A record with the memory it borrows from.
struct ReadRecord {
  Blob blob;
  record::DecodedTensor tensor;

  template <typename T>
  std::vector<T> As() const {
    std::vector<T> values(tensor.content.size() / sizeof(T));
    std::memcpy(values.data(), tensor.content.data(), tensor.content.size());
    return values;
  }
};

// The record at `location` of an event file, checked against its CRC.
inline ReadRecord ReadAt(const Storage& storage, const std::string& event_file,
                         const index::Location& location) {
  auto blob = storage.Read(event_file, location.start, location.length);
  if (!blob) throw std::runtime_error("no event file " + event_file);
  const Bytes payload = blob->bytes.subspan(
      record::kHeaderBytes,
      location.length - record::kHeaderBytes - record::kFooterBytes);
  if (base::Crc32c(payload) != location.crc32c.value()) {
    throw std::runtime_error("wrong CRC in " + event_file);
  }
  return {*blob, record::DecodeTensorRecord(blob->bytes, event_file)};
}

// The records that the tensor payload of one step names, by tensor name.
inline std::map<std::string, ReadRecord> ReadStep(
    const Storage& storage, int64_t step,
    std::string_view worker = "worker_0") {
  std::map<std::string, ReadRecord> records;
  const auto step_index = ReadIndex(storage, step, worker);
  if (!step_index) return records;
  for (const index::TensorEntry& entry : step_index->tensors) {
    records[entry.name] =
        ReadAt(storage, step_index->event_file, entry.location);
  }
  return records;
}

}  // namespace smdebug::testing
