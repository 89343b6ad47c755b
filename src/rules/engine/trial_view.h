#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "smdebug/rule.h"
#include "smdebug/trial.h"
#include "src/reduce/reduce.h"
#include "src/rules/engine/skipped_steps.h"
#include "src/trial/step_table.h"

namespace smdebug::rules {

// What a rule asked a view for, and whether it ever got an answer.
struct ViewUse {
  std::vector<TensorSelection> selections = {};  // Those that took nothing.
  bool selected = false;                         // Some selection took some.
  bool answered = false;        // Some question about a tensor was answered.
  bool left_out = false;        // Something was not there: a step was skipped,
  bool saw_step_made = false;   // and some other step of a scaler was not.
  std::string unanswered = {};  // A tensor of which nothing useful is saved.

  void Join(const ViewUse& other);
};

// A step of a trial. What rules read at a step is read, checked and reduced
// once, however many of them ask, and so is what they read of the few steps
// before it.
//
// Gradients that are not finite are not there at a step that a scaler of losses
// skipped, and parameters not at the one after it, where they are the same.
//
// The trial must not look for new steps by itself meanwhile (RefreshScope).
class TrialView final : public StepView {
 public:
  // `worker` unset: of each tensor what the first by name saved. The trial
  // outlives the view. At first it is at no step: step() is -1.
  TrialView(Trial* trial, std::optional<std::string> worker);
  ~TrialView() override;

  // Goes to a step. Nothing is there if the trial does not have it.
  void MoveTo(int64_t step);

  // Whether the step has more than scalars that were saved between whole steps.
  bool is_whole() const noexcept {
    return !pages_.empty() && pages_.front()->table.is_whole;
  }

  // Forgets what was read before `step`, which the trial is about to forget.
  void Forget(int64_t step);

  // The views that Other() gives; they are moved by their owner.
  void SetOthers(std::span<TrialView* const> others) { others_ = others; }

  // Notes from now on what is asked for in `use`; null: nowhere.
  void SetUse(ViewUse* use) { use_ = use; }

  // Who saved `tensor` at this step; worker() if nobody did.
  const std::string& WorkerOf(std::string_view tensor);

  std::vector<std::string> Select(const TensorSelection& selection) override;
  bool HasSaved(const TensorSelection& selection) override;
  std::vector<StepPlace> History(std::string_view tensor, Mode mode) override;
  std::optional<StepPlace> Before(std::string_view tensor,
                                  int64_t step) override;
  std::optional<Value> ValueAt(std::string_view tensor, int64_t step) override;
  std::optional<double> ReductionAt(std::string_view tensor, int64_t step,
                                    Reduction reduction) override;
  std::optional<ValueCounts> CountsAt(std::string_view tensor,
                                      int64_t step) override;
  StepView* Other(size_t number) override;

 private:
  using TensorId = trial::Catalog::TensorId;

  struct Page;

  // One tensor at one step, and what was read of it.
  struct Slot {
    TensorId id = 0;
    std::span<const trial::Entry> entries = {};
    Page* page = nullptr;  // Which it is on; null: on none.
    const trial::Snapshot* snapshot = nullptr;  // Whose entries they are.
    int64_t* bytes = nullptr;                   // Counts what is held.
    bool is_read = false;
    std::optional<Value> value = {};
    std::optional<reduce::Statistics> statistics = {};
    std::vector<std::pair<Reduction, double>> reductions = {};

    const trial::Entry* Get(trial::Part part) const;
  };
  // Everything at one step.
  struct Page {
    trial::StepTable table;
    std::vector<Slot> slots;       // Parallel to the table's tensors.
    std::vector<int32_t> slot_of;  // By tensor; -1: nothing saved.
    // Parallel to the table's entries: records that wait to be decoded.
    std::vector<std::optional<Blob>> records;
    int64_t bytes = 0;  // Of the values read.
  };
  // A tensor at a step that is no page's any more.
  struct Leaf {
    trial::SnapshotPtr snapshot;
    std::vector<trial::Entry> entries;
    Slot slot;
  };

  WorkerName Who() const;
  const trial::MemberSet& SetOf(const TensorSelection& selection,
                                const trial::Snapshot& snapshot);
  Slot* Find(std::string_view tensor, int64_t step);
  // Both are good until the next call of either.
  Slot* FindSaved(TensorId id, int64_t step);
  Slot* FindLeaf(TensorId id, int64_t step);
  void DropOldPages();
  std::optional<TensorId> IdOf(std::string_view tensor) const;
  bool IsWanted(TensorId id) const;
  void FetchWith(const trial::Entry& entry, Page& page);
  Value Read(const Slot& slot, const trial::Entry& entry);
  const std::optional<Value>& ValueOf(Slot& slot);
  const reduce::Statistics* StatisticsOf(Slot& slot);
  void NoteAnswer(std::string_view tensor, const Slot* slot, bool answered);

  std::optional<StepPlace> PlaceBefore(TensorId id, int64_t step) const;

  // Steps that were skipped (skipped_view.cc).
  void LookForMarks();
  std::optional<TensorId> FindMark(std::string_view name, int number = 0) const;
  std::optional<double> NumberAt(TensorId id, int64_t step);
  ScalerMarks MarksAt(int64_t step);
  std::optional<StepPlace> MarkedBefore(int64_t step);
  bool IsFinite(Slot& slot);
  bool Hides(TensorId id, const StepPlace& place);
  bool HidesAt(TensorId id, int64_t step);
  void LeaveOutSkipped(std::vector<TensorId>& members);

  Trial* const trial_;
  trial::Reader* const reader_;
  const std::optional<std::string> asked_worker_;
  std::span<TrialView* const> others_;
  ViewUse* use_ = nullptr;
  trial::StepCursor cursor_;
  bool has_marks_ = false;  // Of a scaler of losses.
  SkippedSteps skipped_;
  trial::MemberSet gradients_ = {.collections = {"gradients"}};
  trial::MemberSet parameters_ = {.collections = {"weights", "biases"}};
  std::vector<trial::MemberSet> selections_;
  std::deque<std::unique_ptr<Page>> pages_;  // The newest first.
  std::map<std::pair<int64_t, TensorId>, Leaf> leaves_;
  int64_t leaf_bytes_ = 0;
};

}  // namespace smdebug::rules
