#include "smdebug/storage.h"

namespace smdebug {

std::vector<std::optional<Blob>> Storage::ReadMany(
    std::span<const ReadRange> ranges) const {
  std::vector<std::optional<Blob>> blobs;
  blobs.reserve(ranges.size());
  for (const ReadRange& range : ranges) {
    blobs.push_back(Read(range.key, range.offset, range.length));
  }
  return blobs;
}

std::string Storage::FindLink(std::string_view /*key*/) const { return {}; }

void Storage::MoveAll(std::string_view from, std::string_view to) {
  for (const FileInfo& file : List(from)) {
    Move(file.key, std::string(to) + file.key.substr(from.size()));
  }
}

}  // namespace smdebug
