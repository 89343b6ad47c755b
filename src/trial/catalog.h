#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
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
#include "src/base/mutex.h"
#include "src/index/step_index.h"
#include "src/steps/step_source.h"
#include "src/trial/shared_list.h"

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
  uint32_t length = 0;  // Framing included. For shapes: 0, or that of a tensor
                        // without elements, 1 more than the number of its type.
  uint32_t crc32c = 0;  // If has_crc32c.
  uint32_t file = 0;    // A number of Catalog::file().
  Part part = Part::Value();
  bool has_crc32c = false;
  bool shared = false;  // The record has the name of another tensor.

  // Whether its record lies in the step's content.
  bool has_record() const noexcept {
    return part != Part::Shape() && part != Part::Counts();
  }
};

// One step of one worker that was taken in.
struct IndexFile {
  int64_t step = 0;
  int64_t last_step = 0;  // Of its scalars; they can be of later steps.
  uint32_t worker = 0;    // A number of Catalog::worker().
  uint32_t place = 0;     // A number of the catalog's list; 0: the step's own.
};

// One tensor over the run. Entries are in the order of steps; those of one step
// in the order of reading, where the later one of the same kind and worker
// counts.
struct TensorRow {
  const std::string* name = nullptr;
  std::shared_ptr<const std::string> original_name = {};
  SharedSorted<Entry, &Entry::step> entries = {};
  uint8_t modes = 0;   // Bit ModeIndex(): has entries in that mode.
  bool rides = false;  // Some entry is of a scalar that rode in a later file.

  std::span<const Entry> At(int64_t step) const { return entries.At(step); }
};

// A global step that is known.
struct StepRow {
  int64_t step = 0;
  int64_t mode_step = 0;
  Mode mode = Mode::kGlobal;
  bool has_data = false;     // Has a file with content: a whole step.
  bool has_scalars = false;  // Scalars ride to it.
  uint32_t workers = 0;      // Who wrote an index file for it.
};

// Names and their numbers. A name stays where it is as long as the table.
// Thread-safe.
class NameTable {
 public:
  struct Found {
    const std::string* name = nullptr;
    uint32_t number = 0;
  };
  std::optional<Found> Find(std::string_view name) const;
  // Gives `name` a number, whatever it had before.
  const std::string* Set(std::string_view name, uint32_t number);

 private:
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>()(text);
    }
  };
  mutable base::Mutex mu_;
  std::unordered_map<std::string, uint32_t, Hash, std::equal_to<>> numbers_
      SMDEBUG_GUARDED_BY(mu_);
};

// Everything the steps of a run say, compact, in memory.
//
// A value: a copy shares what it has in common with the original, and is cheap.
// One chain of copies grows, by one thread at a time; each copy can be read by
// any thread while later ones do.
class Catalog {
 public:
  using TensorId = uint32_t;
  using Steps = SharedSorted<StepRow, &StepRow::step>;

  // A copy to be changed. Only one of them, and of the newest that is kept.
  Catalog Draft() const;

  // Takes in what `worker` saved at `step`, which was not taken in before;
  // scalars that ride to steps outside `range` are left out. Throws
  // FormatError, naming `name`, for an entry that cannot be; nothing is taken
  // in then.
  void Add(int64_t step, std::string_view worker,
           const steps::StepRecord& record, std::string_view name,
           const StepRange& range);

  // Forgets all steps before `step`; tensors keep their names and numbers.
  void Forget(int64_t step);

  // Whether what `worker` saved at `step` was taken in.
  bool Has(int64_t step, std::string_view worker) const;

  std::optional<TensorId> Find(std::string_view name) const;
  size_t tensor_count() const noexcept { return tensors_.size(); }
  const TensorRow& tensor(TensorId id) const { return tensors_[id]; }
  // How many tensors ride: the only ones at a step without data.
  size_t rider_count() const noexcept { return rider_count_; }

  // In order of steps, those without data too.
  const Steps& steps() const noexcept { return steps_; }
  // How many of them have data.
  size_t whole_count() const noexcept { return whole_count_; }
  // nullptr if the step is not known.
  const StepRow* FindStep(int64_t step) const { return steps_.Find(step); }
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

  // Whether any record has a checksum: smdebug 1.0 writes none.
  bool has_checksums() const noexcept { return has_checksums_; }

  // Bit ModeIndex(): some step is of that mode.
  uint8_t modes() const noexcept { return modes_; }

  size_t file_count() const noexcept { return files_.size(); }
  const IndexFile& file(uint32_t number) const { return files_[number]; }
  uint32_t num_workers() const noexcept {
    return static_cast<uint32_t>(workers_.size());
  }
  // Stays where it is as long as any copy does.
  const std::string& worker(uint32_t number) const {
    return *workers_[number].name;
  }
  // How many of its steps were taken in.
  int64_t num_steps(uint32_t worker) const {
    return workers_[worker].num_steps;
  }
  const std::string& WorkerOf(const Entry& entry) const {
    return worker(file(entry.file).worker);
  }
  // The content that holds `entry`. Borrows from this catalog.
  steps::StepContent ContentOf(const Entry& entry) const;
  // Whether `worker` has saved a later step than `step`.
  bool WroteAfter(uint32_t worker, int64_t step) const;

  const std::vector<int64_t>& shape(const Entry& entry) const {
    return *shapes_[entry.start];
  }
  const ValueCounts& counts(const Entry& entry) const {
    return counts_[entry.start];
  }

 private:
  using Shape = std::vector<int64_t>;
  struct WorkerRow {
    const std::string* name = nullptr;
    int64_t num_steps = 0;  // With those that are forgotten.
    SharedSorted<int64_t, std::identity{}> steps = {};
  };
  struct ModeRow {
    int64_t mode_step = 0;
    int64_t step = 0;
  };
  // What every copy has in common.
  struct Names {
    NameTable tensors;
    NameTable workers;
    std::map<Shape, uint64_t> shapes;  // For the one that grows.
  };

  uint32_t Intern(std::string_view worker);
  TensorRow& Row(std::string_view name);
  const StepRow& Step(int64_t step, Mode mode, int64_t mode_step);
  void Insert(TensorRow& row, const Entry& entry, Mode mode);
  TensorRow& AddRecord(std::string_view name, const Entry& entry, Mode mode);
  void AddShape(const index::ShapeEntry& shape, Entry entry, Mode mode);

  Epoch epoch_ = 0;
  std::shared_ptr<Names> names_ = std::make_shared<Names>();
  SharedVector<TensorRow, 64> tensors_;
  TensorId next_row_ = 0;  // Where the next entry may be.
  size_t rider_count_ = 0;
  Steps steps_;
  size_t whole_count_ = 0;
  std::array<SharedSorted<ModeRow, &ModeRow::mode_step>, 4> globals_;
  SharedVector<IndexFile> files_;
  uint32_t first_file_ = 0;  // Those before are forgotten.
  SharedVector<WorkerRow, 16> workers_;
  SharedVector<std::string> places_;  // From number 1 on.
  SharedVector<const Shape*> shapes_;
  SharedVector<ValueCounts> counts_;
  uint8_t modes_ = 0;
  bool has_checksums_ = false;
};

}  // namespace smdebug::trial
