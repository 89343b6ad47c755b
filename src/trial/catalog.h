#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "smdebug/mode.h"
#include "smdebug/reduction.h"
#include "smdebug/trial.h"
#include "src/index/run_files.h"
#include "src/index/step_index.h"

namespace smdebug::trial {

// Global steps begin <= step < end.
struct StepRange {
  int64_t begin = 0;
  int64_t end = std::numeric_limits<int64_t>::max();

  bool Holds(int64_t step) const noexcept {
    return begin <= step && step < end;
  }
};

// What of a tensor an entry is about.
class Part {
 public:
  static constexpr Part Value() { return Part(0); }
  static constexpr Part Shape() { return Part(1); }
  static constexpr Part Counts() { return Part(2); }
  static constexpr Part Of(Reduction reduction) {
    return Part(static_cast<uint8_t>(
        kFirstReduction + 2 * static_cast<int>(reduction.op) + reduction.abs));
  }

  // nullopt unless it is a reduction.
  constexpr std::optional<Reduction> reduction() const {
    if (number_ < kFirstReduction) return std::nullopt;
    const int rest = number_ - kFirstReduction;
    return Reduction{static_cast<ReductionOp>(rest / 2), rest % 2 == 1};
  }

  friend bool operator==(Part, Part) = default;

 private:
  static constexpr int kFirstReduction = 3;
  explicit constexpr Part(uint8_t number) : number_(number) {}

  uint8_t number_;
};

// One thing saved of a tensor: at which step, by which file, and where. Kept
// small, for a run can have millions.
struct Entry {
  int64_t step = 0;     // Global.
  uint64_t start = 0;   // In the event file; a number of the catalog's lists
                        // for shapes and counts.
  uint32_t length = 0;  // Framing included.
  uint32_t crc32c = 0;  // If has_crc32c.
  uint32_t file = 0;    // A number of Catalog::file().
  Part part = Part::Value();
  bool has_crc32c = false;
  bool shared = false;  // The record has the name of another tensor.
};

// One index file that was read.
struct IndexFile {
  int64_t step = 0;
  uint32_t worker = 0;  // A number of Catalog::worker().
  uint32_t event = 0;   // A number of the catalog's list; 0: by the rule.
};

// One tensor over the run. Entries are in the order of steps; those of one step
// in the order of reading, where the later one of the same kind and worker
// counts.
struct TensorRow {
  std::string name;
  std::optional<std::string> original_name;
  std::vector<Entry> entries;
  uint8_t modes = 0;  // Bit ModeIndex(): has entries in that mode.

  std::span<const Entry> At(int64_t step) const;
};

// A global step that is known.
struct StepRow {
  int64_t step = 0;
  int64_t mode_step = 0;
  Mode mode = Mode::kGlobal;
  bool has_data = false;  // Has a file with content; else scalars ride to it.
  uint32_t workers = 0;   // Who wrote an index file for it.
};

// Everything the index files of a run say, compact, in memory.
//
// One thread at a time.
class Catalog {
 public:
  using TensorId = uint32_t;

  // Takes in the index file of `worker` at `step`, which was not taken in
  // before; scalars that ride to steps outside `range` are left out.
  // Throws FormatError, naming `key`, for an entry that cannot be; nothing is
  // taken in then.
  void Add(int64_t step, std::string_view worker, const index::StepIndex& index,
           std::string_view key, const StepRange& range);

  // Forgets all steps before `step`; tensors keep their names and numbers.
  void Forget(int64_t step);

  // Whether the index file of `worker` at `step` was taken in.
  bool Has(int64_t step, std::string_view worker) const;

  std::optional<TensorId> Find(std::string_view name) const;
  size_t tensor_count() const noexcept { return tensors_.size(); }
  const TensorRow& tensor(TensorId id) const { return tensors_[id]; }

  // In order of steps, those without data too.
  std::span<const StepRow> steps() const noexcept { return steps_; }
  // nullptr if the step is not known.
  const StepRow* FindStep(int64_t step) const;
  std::optional<int64_t> GlobalStep(Mode mode, int64_t mode_step) const;

  // A step with data, and its number in the mode that was asked for.
  struct ModeStep {
    int64_t number = 0;
    const StepRow* row = nullptr;
  };
  // The first of `mode` that is `step` or later; nullopt if there is none.
  std::optional<ModeStep> NextStep(int64_t step, Mode mode) const;
  // All of `mode`, in order.
  std::vector<ModeStep> StepsOf(Mode mode) const;
  // The number of the last one of `mode`; -1 if there is none.
  int64_t LastStep(Mode mode) const;

  // Bit ModeIndex(): some step is of that mode.
  uint8_t modes() const noexcept { return modes_; }

  size_t file_count() const noexcept { return first_file_ + files_.size(); }
  const IndexFile& file(uint32_t number) const {
    return files_[number - first_file_];
  }
  const std::string& worker(uint32_t number) const {
    return workers_[number].name;
  }
  const std::string& WorkerOf(const Entry& entry) const {
    return worker(file(entry.file).worker);
  }
  // The key of the event file that holds `entry`.
  std::string EventKey(const Entry& entry) const;
  // Whether `worker` has a file of a later step than `step`.
  bool WroteAfter(uint32_t worker, int64_t step) const;

  const std::vector<int64_t>& shape(const Entry& entry) const {
    return *shapes_[entry.start];
  }
  const ValueCounts& counts(const Entry& entry) const {
    return counts_[entry.start - first_counts_];
  }

 private:
  struct WorkerRow {
    std::string name;
    std::vector<int64_t> steps;  // In order.
  };

  uint32_t Intern(std::string_view worker);
  TensorRow& Row(std::string_view name);
  StepRow& Step(int64_t step, Mode mode, int64_t mode_step);
  void Insert(TensorRow& row, const Entry& entry, Mode mode);
  void AddRecord(std::string_view name, const Entry& entry, Mode mode);
  void AddShape(const index::ShapeEntry& shape, Entry entry, Mode mode);

  std::deque<TensorRow> tensors_;  // Their names must stay where they are.
  std::unordered_map<std::string_view, TensorId> tensor_ids_;
  std::vector<StepRow> steps_;
  // By mode: (mode step, global step), in order.
  std::array<std::vector<std::pair<int64_t, int64_t>>, 4> globals_;
  std::deque<IndexFile> files_;
  uint32_t first_file_ = 0;  // The number of the first of them.
  std::vector<WorkerRow> workers_;
  std::map<std::string, uint32_t, std::less<>> worker_numbers_;
  std::vector<std::string> events_{""};  // Names that the rule does not give.
  std::map<std::vector<int64_t>, uint64_t> shape_numbers_;
  std::vector<const std::vector<int64_t>*> shapes_;
  std::deque<ValueCounts> counts_;
  uint64_t first_counts_ = 0;
  uint8_t modes_ = 0;
};

}  // namespace smdebug::trial
