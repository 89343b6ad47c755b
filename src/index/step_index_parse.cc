#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "src/base/bytes.h"
#include "src/base/crc32c.h"
#include "src/base/json_reader.h"
#include "src/base/json_writer.h"
#include "src/index/step_index.h"
#include "src/storage/key.h"

namespace smdebug::index {
namespace {

constexpr int64_t kMaxOffset = std::numeric_limits<int64_t>::max();

// `text` as JSON, which no control character escapes from, and not too long.
std::string Quoted(std::string_view text) {
  std::string quoted;
  base::AppendJsonString(text.substr(0, 120), quoted);
  return quoted;
}

// Reads one index file. One thread at a time.
class IndexParser {
 public:
  IndexParser(std::string_view json, std::string_view file)
      : json_(json), reader_(json, file) {}

  StepIndex Parse() {
    CheckSum();
    StepIndex index;
    ParseMeta(index);
    const bool has_tensors = ForEach("tensor_payload", [&](auto entry) {
      index.tensors.push_back(ParseTensor(entry));
    });
    const bool has_shapes = ForEach("shape_payload", [&](auto entry) {
      index.shapes.push_back(ParseShape(entry));
    });
    ForEach("scalar_payload",
            [&](auto entry) { index.scalars.push_back(ParseScalar(entry)); });
    ForEach("value_counts",
            [&](auto entry) { index.counts.push_back(ParseCounts(entry)); });
    if (!has_tensors && !has_shapes) {
      reader_.Fail(
          {.key = "tensor_payload"},
          "is missing, and so is shape_payload; one of them is needed");
    }
    if (index.event_file.empty() &&
        (!index.tensors.empty() || !index.scalars.empty())) {
      reader_.Fail({.list = "meta", .key = "event_file_name"},
                   "is missing, but the index has entries with values");
    }
    return index;
  }

 private:
  using Object = base::JsonReader::Object;

  // Calls `visit` with each object of the list under `key`; place_ names it
  // meanwhile. Returns whether there is such a list.
  template <typename Visit>
  bool ForEach(std::string_view key, Visit visit) {
    const auto found = reader_.Find(reader_.root(), key);
    if (!found) return false;
    place_ = {.list = key, .item = 0, .key = {}};
    for (const auto element : reader_.GetArray(*found, {.key = key})) {
      visit(reader_.GetObject(element, place_));
      ++place_.item;
    }
    return true;
  }

  base::JsonPlace At(std::string_view key) const {
    return {place_.list, place_.item, key};
  }

  std::string_view String(Object entry, std::string_view key) const {
    return reader_.GetString(reader_.Require(entry, key, place_), At(key));
  }

  int64_t Number(Object entry, std::string_view key,
                 int64_t most = kMaxOffset) const {
    return reader_.GetInt(reader_.Require(entry, key, place_), At(key), 0,
                          most);
  }

  Mode ParseModeOf(Object entry) const {
    const std::string_view name = String(entry, "mode");
    const auto mode = std::ranges::find(kModes, name, ModeName);
    if (mode == kModes.end()) {
      reader_.Fail(At("mode"),
                   fmt::format("{} is none of TRAIN, EVAL, PREDICT, GLOBAL",
                               Quoted(name)));
    }
    return *mode;
  }

  Location ParseLocation(Object entry) const {
    Location location;
    const int64_t start = Number(entry, "start_idx");
    const int64_t length = Number(entry, "length", kMaxOffset - start);
    location.start = static_cast<uint64_t>(start);
    location.length = static_cast<uint64_t>(length);
    if (const auto crc = reader_.Find(entry, "crc32c")) {
      location.crc32c = static_cast<uint32_t>(reader_.GetInt(
          *crc, At("crc32c"), 0, std::numeric_limits<uint32_t>::max()));
    }
    return location;
  }

  void ParseMeta(StepIndex& index) {
    place_ = {};
    const auto element = reader_.Require(reader_.root(), "meta", place_);
    const Object meta = reader_.GetObject(element, {.key = "meta"});
    place_.list = "meta";
    index.mode = ParseModeOf(meta);
    index.mode_step = Number(meta, "mode_step");
    if (!reader_.Find(meta, "event_file_name")) return;
    index.event_file = String(meta, "event_file_name");
    // The name is opened later, and must not lead out of the run.
    if (!storage::IsValidKey(index.event_file)) {
      reader_.Fail(At("event_file_name"),
                   fmt::format("{} is not the name of a file in the run",
                               Quoted(index.event_file)));
    }
  }

  TensorEntry ParseTensor(Object entry) const {
    TensorEntry tensor = {std::string(String(entry, "tensorname")),
                          ParseLocation(entry)};
    if (const auto stored_as = reader_.Find(entry, "stored_as")) {
      tensor.stored_as = reader_.GetString(*stored_as, At("stored_as"));
    }
    return tensor;
  }

  ShapeEntry ParseShape(Object entry) const {
    ShapeEntry shape;
    shape.name = String(entry, "tensorname");
    shape.original_name = String(entry, "originalname");
    const auto extents =
        reader_.GetArray(reader_.Require(entry, "shape", place_), At("shape"));
    for (const auto extent : extents) {
      shape.shape.push_back(reader_.GetInt(extent, At("shape")));
    }
    if (reader_.Find(entry, "dtype")) {
      shape.dtype = ParseDTypeOf(entry);
      if (std::ranges::find(shape.shape, 0) == shape.shape.end()) {
        reader_.Fail(At("dtype"), "is there though the shape has elements");
      }
    }
    return shape;
  }

  ScalarEntry ParseScalar(Object entry) const {
    ScalarEntry scalar;
    scalar.name = String(entry, "tensorname");
    scalar.step = Number(entry, "step");
    scalar.mode = ParseModeOf(entry);
    scalar.mode_step = Number(entry, "mode_step");
    scalar.location = ParseLocation(entry);
    return scalar;
  }

  DType ParseDTypeOf(Object entry) const {
    const std::string_view name = String(entry, "dtype");
    const auto dtype = ParseDType(name);
    if (!dtype) {
      reader_.Fail(At("dtype"),
                   fmt::format("{} is not an element type", Quoted(name)));
    }
    return *dtype;
  }

  CountsEntry ParseCounts(Object entry) const {
    return {.name = std::string(String(entry, "tensorname")),
            .values = {.dtype = ParseDTypeOf(entry),
                       .count = Number(entry, "count"),
                       .nan = Number(entry, "nan"),
                       .pos_inf = Number(entry, "pos_inf"),
                       .neg_inf = Number(entry, "neg_inf"),
                       .zero = Number(entry, "zero")}};
  }

  // Runs of smdebug 1.0 have none.
  void CheckSum() const {
    constexpr std::string_view kKey = "index_crc32c";
    const auto found = reader_.Find(reader_.root(), kKey);
    if (!found) return;
    const int64_t check = reader_.GetInt(*found, {.key = kKey}, 0,
                                         std::numeric_limits<uint32_t>::max());
    const size_t end = json_.rfind(kCheckKey);
    if (end == std::string_view::npos ||
        base::Crc32c(base::AsBytes(json_.substr(0, end))) != check) {
      reader_.Fail({.key = kKey}, "the checksum is wrong");
    }
  }

  std::string_view json_;
  base::JsonReader reader_;
  base::JsonPlace place_;
};

}  // namespace

StepIndex ParseStepIndex(std::string_view json, std::string_view file) {
  return IndexParser(json, file).Parse();
}

}  // namespace smdebug::index
