#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "smdebug/rule.h"
#include "smdebug/trial.h"

namespace smdebug::rules {

// Which names a selection takes; each name is looked at once.
class SelectedNames {
 public:
  // Throws ConfigError for a bad regex.
  SelectedNames(Trial* trial, const TensorSelection& selection);
  ~SelectedNames();
  SelectedNames(SelectedNames&&) noexcept;

  bool Takes(const std::string& name);

 private:
  struct Patterns;
  std::unique_ptr<Patterns> patterns_;
  std::map<std::string, bool, std::less<>> known_;
};

// A step of a trial. What rules read at a step is read once, however many of
// them ask.
class TrialView final : public StepView {
 public:
  // `worker` unset: whoever is first by name. The trials outlive the view.
  TrialView(Trial* trial, std::optional<std::string> worker,
            std::vector<Trial*> others);
  ~TrialView() override;

  // Goes to a step that the trial has.
  void MoveTo(int64_t step);

  std::vector<std::string> Select(const TensorSelection& selection) override;
  std::vector<StepPlace> History(std::string_view tensor, Mode mode) override;
  std::optional<Value> ValueAt(std::string_view tensor, int64_t step) override;
  std::optional<double> ReductionAt(std::string_view tensor, int64_t step,
                                    Reduction reduction) override;
  std::optional<ValueCounts> CountsAt(std::string_view tensor,
                                      int64_t step) override;
  StepView* Other(size_t number) override;

 private:
  WorkerName Who() const;

  Trial* const trial_;
  const std::optional<std::string> asked_worker_;
  std::vector<std::unique_ptr<TrialView>> others_;
  std::map<std::pair<std::vector<std::string>, std::vector<std::string>>,
           SelectedNames>
      selections_;
  std::vector<std::string> names_;  // At this step.
  std::map<std::string, std::optional<Value>, std::less<>> values_;
};

}  // namespace smdebug::rules
