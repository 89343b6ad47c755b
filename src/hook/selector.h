#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "smdebug/config.h"
#include "src/config/plan.h"
#include "src/hook/step_counter.h"
#include "src/hook/unmatched.h"
#include "src/reduce/reduce.h"

namespace smdebug::hook {

// What is saved of one tensor at the steps where the same of its collections
// are due. Fixed once made.
struct Form {
  bool raw = false;
  bool shape = false;
  std::vector<Reduction> reductions;
  std::vector<std::string> reduction_names;  // Of the saved records.
  reduce::Wanted wanted;
  std::string histogram_tag;  // For TensorBoard; empty: none.
  bool scalar_in_tensorboard = false;

  bool IsNothing() const noexcept {
    return !raw && !shape && reductions.empty() && histogram_tag.empty();
  }
};

// What is known about one tensor name: computed once, when it is first seen.
// The hook's lock guards `forms`; the rest is fixed.
struct TensorPlan {
  std::string name;
  std::vector<size_t> collections;  // Positions in the selector, ascending.

  // By Selector::due_key(); null: not made yet.
  std::vector<std::shared_ptr<const Form>> forms;

  bool is_member = false;  // Its collections list it.
  // Its name is kept for reductions, so nothing of it is saved, and nobody has
  // said so yet.
  bool is_refused = false;
};

// What readers have yet to be told about collections.
struct CollectionChanges {
  struct Member {
    std::string collection;
    std::string name;
  };

  std::vector<Collection> made;
  std::vector<Member> joined;

  bool empty() const noexcept { return made.empty() && joined.empty(); }
};

// Decides what is saved: which collections are due at a step, which of them
// hold a tensor, and what they ask for. Each regex runs once per name.
//
// One thread at a time.
class Selector {
 public:
  // `config` is borrowed and outlives the selector. Throws as MakePlan().
  explicit Selector(const HookConfig& config);

  const config::Plan& plan() const noexcept { return plan_; }

  // Decides what is due at `stamp`, for the calls that follow.
  void BeginStep(const Stamp& stamp);

  // Nothing is due until the next BeginStep().
  void EndStep() noexcept { due_id_ = kNothingDue; }

  // Whether anything of the tensor was due at the last step begun.
  bool WasDue(const TensorPlan& tensor) const;

  bool AnythingDue() const noexcept { return due_id_ != kNothingDue; }

  // Whether anything would be due at a step to come.
  bool AnythingDueAt(const Stamp& stamp) const;

  // The same number for the same set of due collections; 0 for none.
  uint64_t due_key() const noexcept { return due_id_; }

  // Whether a due collection matches any of "<prefix>0" to "<prefix>99".
  bool AnyIsDue(std::string_view prefix);

  // A number of what Find() has returned: another one from when some of it is
  // no longer good. No two selectors have the same.
  uint64_t generation() const noexcept { return generation_; }

  // The plan of `name`, made if this is the first time.
  std::shared_ptr<TensorPlan> Find(std::string_view name);

  // Lists a tensor that was seen in its collections.
  void MakeMember(TensorPlan& tensor);

  // What is saved of the tensor now; null for nothing. Valid until the next
  // Find().
  const std::shared_ptr<const Form>& FormNow(TensorPlan& tensor);

  // Puts `name` into each of `collections`, made if missing. Returns the form
  // that those of them ask for that are due at `stamp`; null for none.
  std::shared_ptr<const Form> Join(
      std::string_view name, std::span<const std::string_view> collections,
      const Stamp& stamp, std::shared_ptr<TensorPlan>& tensor);

  // Puts `name`, which is saved whatever is due, into `collection`. One that is
  // made for it asks for no step.
  void Enlist(std::string_view name, std::string_view collection);

  // More names that messages about what takes nothing may point to.
  void AddHints(std::span<const std::string> hints) {
    unmatched_.AddHints(hints);
  }

  // Logs what was asked for, was due at the step that ends, and has taken no
  // tensor; each once.
  void TellUnmatched();

  // What changed since the last TakeChanges(): at first, everything.
  // Null if there is nothing.
  bool HasChanges() const noexcept { return !changes_.empty(); }
  std::unique_ptr<const CollectionChanges> TakeChanges();

 private:
  using DueSet = std::vector<bool>;
  static constexpr size_t kNothingDue = 0;

  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const noexcept {
      return std::hash<std::string_view>{}(text);
    }
  };

  bool IsDue(const config::PlannedCollection& collection,
             const Stamp& stamp) const;
  void ForgetNames();
  size_t Position(std::string_view collection);
  void AddMember(size_t position, std::string_view name);
  std::shared_ptr<const Form> MakeForm(const TensorPlan& tensor,
                                       const std::vector<size_t>& due) const;

  const HookConfig& config_;
  const bool tensorboard_;
  config::Plan plan_;
  std::vector<config::PlannedCollection*> collections_;  // Into plan_.

  size_t due_id_ = kNothingDue;
  DueSet due_;
  std::map<DueSet, size_t> due_ids_;

  std::unordered_map<std::string, std::shared_ptr<TensorPlan>, Hash,
                     std::equal_to<>>
      tensors_;
  uint64_t generation_;
  // Positions of collections that match what begins with a prefix.
  std::unordered_map<std::string, std::vector<size_t>, Hash, std::equal_to<>>
      prefixes_;
  CollectionChanges changes_;
  Unmatched unmatched_;
};

}  // namespace smdebug::hook
