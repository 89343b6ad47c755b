#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "smdebug/storage.h"
#include "src/index/step_index.h"

// Where steps come from: what every reader of a run goes through, so that none
// of them knows how the steps of a run lie in its store.
namespace smdebug::steps {

// A step of a worker that is published.
struct StepItem {
  // What messages call it, and Look() finds it by.
  std::string name = {};
  // -1: the name is not that of a step, which is damage.
  int64_t step = -1;
  std::string worker = {};
  // Of what tells about the step. Both change when it does.
  uint64_t size = 0;
  double modified = 0;

  friend bool operator==(const StepItem&, const StepItem&) = default;
};

// What a step holds, and where.
struct StepRecord {
  index::StepIndex index;
  // For StepContent::place.
  std::string place;
};

// Names the content of a step: the records that its index locates. Borrows.
struct StepContent {
  int64_t step = 0;
  std::string_view worker;
  // Where it lies, if that is not the step's own place; else empty.
  std::string_view place = {};

  friend bool operator==(const StepContent&, const StepContent&) = default;
};

struct ContentRange {
  StepContent content;
  uint64_t offset = 0;
  uint64_t length = 0;
};

// Content that is in the store, whether a step that is published holds it or
// not.
struct ContentItem {
  std::string name = {};                   // As NameOf() gives it.
  std::optional<std::string> worker = {};  // Unset: the name does not tell.
  uint64_t size = 0;
  double modified = 0;
};

// The steps of a run. What is published is never changed, except that damage
// may be mended.
//
// Every call throws IoError. Thread-safe.
class StepSource {
 public:
  virtual ~StepSource() = default;

  // The folders of the store in which a change may tell of a new step.
  virtual std::vector<std::string_view> folders() const = 0;

  // Published steps that lie after `cursor`, in order of step and worker. An
  // empty cursor is before all.
  virtual std::vector<StepItem> List(std::string_view cursor) const = 0;

  // The cursor right after `worker` at `step`, whether that is there or not;
  // unset: after everybody.
  virtual std::string CursorAfter(
      int64_t step, std::optional<std::string_view> worker) const = 0;

  // The step of that name as it is now; nullopt if it is gone.
  virtual std::optional<StepItem> Look(std::string_view name) const = 0;

  // What the step holds; nullopt if it is gone. Throws FormatError, which names
  // it, if it does not tell.
  virtual std::optional<StepRecord> ReadIndex(const StepItem& item) const = 0;

  // What messages call some content.
  virtual std::string NameOf(const StepContent& content) const = 0;

  // The bytes [offset, offset + length) of some content, cut at its end;
  // nullopt if it is not there.
  virtual std::optional<Blob> Read(const StepContent& content, uint64_t offset,
                                   uint64_t length) const = 0;

  // The same for many ranges, in their order. Those that lie close to each
  // other in the same content are read at once where they follow in the list.
  virtual std::vector<std::optional<Blob>> ReadMany(
      std::span<const ContentRange> ranges) const;

  // All content, in order of names.
  virtual std::vector<ContentItem> ListContents() const = 0;
};

// Whether the range is read with the bytes [first, end) of the same content:
// what lies between costs less than another call, and all of it together is not
// too much to keep for one value.
bool AreReadTogether(uint64_t first, uint64_t end, uint64_t start,
                     uint64_t length) noexcept;

// Where to begin to read, so that what lies aligned in the content lies so in
// memory, too.
constexpr uint64_t AlignedDown(uint64_t offset) noexcept {
  constexpr uint64_t kAlignment = 64;
  return offset / kAlignment * kAlignment;
}

// The bytes [offset, offset + length) of `whole`, cut at its end.
Blob Slice(const Blob& whole, uint64_t offset, uint64_t length);

// The steps of the run in `storage`, which is borrowed and outlives it. Here,
// and nowhere else, it is decided how a run keeps its steps.
std::unique_ptr<const StepSource> OpenStepSource(const Storage* storage);

// When the newest step, or content of one, came, in seconds since the epoch by
// the clock of the store; 0 if there is none.
double NewestStep(const StepSource& source);

using MakeStepSource =
    std::function<std::unique_ptr<const StepSource>(const Storage*)>;

// Lets `make` open all sources as long as it lives. For tests, which have one
// at a time and open nothing meanwhile in another thread.
class [[nodiscard]] ScopedStepSource {
 public:
  explicit ScopedStepSource(MakeStepSource make);
  ~ScopedStepSource();
  ScopedStepSource(const ScopedStepSource&) = delete;
  ScopedStepSource& operator=(const ScopedStepSource&) = delete;
};

}  // namespace smdebug::steps
