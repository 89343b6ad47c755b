#include "src/steps/step_source.h"

#include <algorithm>
#include <utility>

#include "src/steps/file_pair_source.h"

namespace smdebug::steps {
namespace {

// Reading what lies between two ranges costs less than another call.
constexpr uint64_t kMostGap = uint64_t{64} << 10;
// What lies aligned in the content lies so in memory, too.
constexpr uint64_t kAlignment = 64;
// Who keeps one value keeps all bytes that were read with it.
constexpr uint64_t kMostAtOnce = uint64_t{16} << 20;

MakeStepSource& Override() {
  static MakeStepSource make;
  return make;
}

// The bytes [offset, offset + length) of a file of which `whole` was read from
// `start` on.
Blob Slice(const Blob& whole, uint64_t start, const ContentRange& range) {
  const uint64_t size = whole.bytes.size();
  const uint64_t first = std::min(range.offset - start, size);
  return {whole.bytes.subspan(first, std::min(range.length, size - first)),
          whole.owner};
}

}  // namespace

std::vector<std::optional<Blob>> StepSource::ReadMany(
    std::span<const ContentRange> ranges) const {
  std::vector<std::optional<Blob>> blobs(ranges.size());
  for (size_t first = 0; first < ranges.size();) {
    const StepContent& content = ranges[first].content;
    const uint64_t start = ranges[first].offset / kAlignment * kAlignment;
    uint64_t end = ranges[first].offset + ranges[first].length;
    size_t last = first + 1;
    for (; last < ranges.size(); ++last) {
      const ContentRange& next = ranges[last];
      if (next.content != content || next.offset < start ||
          next.offset > end + kMostGap ||
          next.offset + next.length - start > kMostAtOnce) {
        break;
      }
      end = std::max(end, next.offset + next.length);
    }
    if (const auto whole = Read(content, start, end - start)) {
      for (size_t i = first; i < last; ++i) {
        blobs[i] = Slice(*whole, start, ranges[i]);
      }
    }
    first = last;
  }
  return blobs;
}

std::unique_ptr<const StepSource> OpenStepSource(const Storage* storage) {
  if (Override()) return Override()(storage);
  return std::make_unique<FilePairSource>(storage);
}

double NewestStep(const StepSource& source) {
  double newest = 0;
  for (const StepItem& item : source.List({})) {
    newest = std::max(newest, item.modified);
  }
  for (const ContentItem& item : source.ListContents()) {
    newest = std::max(newest, item.modified);
  }
  return newest;
}

ScopedStepSource::ScopedStepSource(MakeStepSource make) {
  Override() = std::move(make);
}

ScopedStepSource::~ScopedStepSource() { Override() = nullptr; }

}  // namespace smdebug::steps
