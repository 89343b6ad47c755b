#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nanobind/nanobind.h>

#include "python/src/borrowed_tensor.h"
#include "smdebug/hook.h"
#include "smdebug/internal/xgboost_importance.h"

namespace smdebug::python {

// The names of tensors that are saved together, step after step.
class TensorNames {
 public:
  explicit TensorNames(const std::vector<std::string>& names)
      : names_(names.begin(), names.end()) {}

  size_t size() const noexcept { return names_.size(); }
  TensorName& operator[](size_t i) noexcept { return names_[i]; }

 private:
  std::vector<TensorName> names_;
};

// The type of a Python error and its message, then its traceback. Needs the
// GIL.
std::string ReasonOf(const nanobind::python_error& error);

// A Hook that is handed the tensors of a Python framework. Needs the GIL, and
// lets go of it while the core works.
//
// Nothing is thrown into training, whatever a tensor's class does when it is
// looked at: see Hook::Try().
class TensorHook {
 public:
  // As Hook::OfWorkers() if there are several.
  TensorHook(HookConfig config, std::span<const Worker> workers,
             nanobind::tuple types, nanobind::tuple differs,
             nanobind::object describe);

  Hook& core() noexcept { return *core_; }
  const TensorBorrower& borrower() const noexcept { return borrower_; }

  // Hook::Try() for work that calls Python.
  template <typename Work>
  bool Try(std::string_view name, const Work& work) {
    bool is_done = false;
    core_->Try(name, [&] {
      try {
        work();
        is_done = true;
      } catch (const nanobind::python_error& error) {
        if (core_->LeaveOut(name, ReasonOf(error))) throw;
      }
    });
    return is_done;
  }

  // Has `taker` offered each tensor that is saved and not in plain memory, or
  // each that is if it `takes_all`: take(name, tensor, collections, next_step,
  // is_stable) gives True if it saves it itself. What is stable does not change
  // before gather() is called. settle(is_urgent) comes before the step ends,
  // for all that was taken and has not been handed to the core; it gives True
  // if that may wait for the next step, which nothing may if it is urgent.
  //
  // `taker.lock` is held while it takes something, of which it then knows the
  // step.
  void TakeElsewhere(nanobind::object taker, bool takes_all);

  // The taker has taken something else than what it was offered.
  void ExpectSettling() noexcept { has_taken_ = has_ever_taken_ = true; }

  // While it lives, the taker takes nothing. Made and destroyed with the GIL.
  class Settled {
   public:
    Settled(TensorHook& hook, bool is_urgent);
    ~Settled();
    Settled(const Settled&) = delete;
    Settled& operator=(const Settled&) = delete;

   private:
    Settled() = default;

    nanobind::object lock_;  // Null if there is nothing to keep from taking.
  };

  // Has the taker hand over what it took, before something that ends a step,
  // which is done as long as the result lives.
  [[nodiscard]] Settled Settle(bool is_urgent = true) {
    return {*this, is_urgent};
  }

  // Starts the next step, or step `number`; tells whether anything is due. Then
  // there is time to pass on what the core has logged.
  bool BeginStep(std::optional<int64_t> number);

  // Starts the next step if nothing of it is due; tells whether it did. Holds
  // on to the GIL, since there is next to nothing to do.
  bool BeginIdleStep();

  // Counts the steps begun; callbacks number their tensors anew with each.
  uint64_t steps_begun() const noexcept { return steps_begun_; }

  // Saves `tensor` if anything of `name` is due.
  void Save(std::string_view name, nanobind::handle tensor);
  void Save(TensorName& name, nanobind::handle tensor);
  void Save(std::string_view name, nanobind::handle tensor,
            const SaveOptions& options);

  // The same for a gradient, as SetUnscale() has it.
  void SaveGradient(TensorName& name, nanobind::handle gradient);

  // `unscale` is called with each gradient that is due, from now on: it gives
  // the tensor to be saved, or a text that says why there is none. It does not
  // hold the hook.
  void SetUnscale(nanobind::object unscale) { unscale_ = std::move(unscale); }

  // The same for each of `names` and `tensors`, which are of one length.
  void SaveMany(TensorNames& names, nanobind::list tensors);

  // Saves `tensor` under each of `names`; its bytes are stored once.
  void SaveAs(nanobind::list names, nanobind::handle tensor);

  // Saves each item of a tensor of one axis, as (1,), under its name.
  void SaveItems(TensorNames& names, nanobind::handle tensor);

  // The same for numbers that are in no tensor, as float64.
  void SaveNumbers(TensorNames& names, const std::vector<double>& numbers);

  // Saves the importance of a booster's features. False if XGBoost refuses.
  bool SaveImportance(XgboostImportance& importance, uintptr_t booster);

  void SaveTensor(std::string_view name, nanobind::handle tensor,
                  const std::vector<std::string>& collections, bool next_step);

  // For each name whether something of it is due.
  std::vector<bool> AreDue(nanobind::list names);
  // For each prefix whether something is due that Hook::AnyIsDue() looks for.
  std::vector<bool> PrefixesAreDue(nanobind::list prefixes);

 private:
  // Save() for either kind of name; `options` are those of Hook::Save(), if
  // any.
  template <typename Name, typename... Options>
  void SaveNamed(Name& name, std::string_view text, nanobind::handle tensor,
                 const Options&... options);

  // Saves the items of `all`, which has one axis, under their names.
  void SaveEach(TensorNames& names, const TensorView& all);

  // How a tensor is saved, where that matters to the taker.
  struct Manner {
    const std::vector<std::string>* collections = nullptr;
    bool next_step = false;
    bool is_stable = false;
  };

  // False if there is nothing more to do: `tensor` cannot be borrowed, which is
  // counted then, or was taken elsewhere.
  bool Borrow(std::string_view name, nanobind::handle tensor,
              BorrowedTensor& borrowed);
  bool BorrowOrOffer(std::string_view name, nanobind::handle tensor,
                     BorrowedTensor& borrowed, const Manner& manner);
  bool IsTaken(std::string_view name, nanobind::handle tensor,
               const Manner& manner);

  const std::unique_ptr<Hook> core_;
  const TensorBorrower borrower_;
  nanobind::object unscale_;  // Null: gradients are saved as they are.
  uint64_t steps_begun_ = 0;
  nanobind::object take_;  // Null without a taker, as are the next three.
  nanobind::object gather_;
  nanobind::object settle_;
  nanobind::object lock_;
  pid_t process_ = 0;  // Of the taker.
  bool takes_all_ = false;
  bool has_taken_ = false;  // Something that is not settled.
  bool has_ever_taken_ = false;
};

}  // namespace smdebug::python
