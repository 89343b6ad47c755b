#include "src/steps/step_source.h"

#include <algorithm>
#include <utility>

#include "src/steps/file_pair_source.h"

namespace smdebug::steps {
namespace {

// Reading what lies between two ranges costs less than another call.
constexpr uint64_t kMostGap = uint64_t{64} << 10;
// Who keeps one value keeps all bytes that were read with it.
constexpr uint64_t kMostAtOnce = uint64_t{16} << 20;

MakeStepSource& Override() {
  static MakeStepSource make;
  return make;
}

}  // namespace

bool AreReadTogether(uint64_t first, uint64_t end, uint64_t start,
                     uint64_t length) noexcept {
  return start >= first && start <= end + kMostGap &&
         start + length - first <= kMostAtOnce;
}

Blob Slice(const Blob& whole, uint64_t offset, uint64_t length) {
  const uint64_t size = whole.bytes.size();
  const uint64_t first = std::min(offset, size);
  return {whole.bytes.subspan(first, std::min(length, size - first)),
          whole.owner};
}

std::vector<std::optional<Blob>> StepSource::ReadMany(
    std::span<const ContentRange> ranges) const {
  std::vector<std::optional<Blob>> blobs(ranges.size());
  for (size_t first = 0; first < ranges.size();) {
    const StepContent& content = ranges[first].content;
    const uint64_t start = AlignedDown(ranges[first].offset);
    uint64_t end = ranges[first].offset + ranges[first].length;
    size_t last = first + 1;
    for (; last < ranges.size(); ++last) {
      const ContentRange& next = ranges[last];
      if (next.content != content ||
          !AreReadTogether(start, end, next.offset, next.length)) {
        break;
      }
      end = std::max(end, next.offset + next.length);
    }
    if (const auto whole = Read(content, start, end - start)) {
      for (size_t i = first; i < last; ++i) {
        blobs[i] = Slice(*whole, ranges[i].offset - start, ranges[i].length);
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
