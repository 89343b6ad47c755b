#include "src/query/run_compare.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <span>
#include <utility>

#include "smdebug/error.h"
#include "src/query/entry_compare.h"
#include "src/query/name_match.h"
#include "src/query/saved_entry.h"
#include "src/trial/step_sweep.h"

namespace smdebug::query {
namespace {

template <typename T>
std::vector<T> Minus(const std::vector<T>& a, const std::vector<T>& b) {
  std::vector<T> rest;
  std::ranges::set_difference(a, b, std::back_inserter(rest));
  return rest;
}

template <typename T>
std::vector<T> Common(const std::vector<T>& a, const std::vector<T>& b) {
  std::vector<T> common;
  std::ranges::set_intersection(a, b, std::back_inserter(common));
  return common;
}

using trial::Found;
using trial::StepSweep;

// One of the two runs, at a step.
struct Side {
  trial::Reader& reader;
  StepSweep& sweep;
  std::vector<int64_t> steps;         // Complete ones, those without data too.
  std::span<const Found> items = {};  // Of the step, without those compared.

  void MoveTo(int64_t step, Mode mode) {
    items = std::ranges::binary_search(steps, step) ? sweep.MoveTo(step, mode)
                                                    : std::span<const Found>();
  }

  // What everybody saved of the next tensor, if that is `name`.
  std::span<const Found> Take(const std::string& name) {
    size_t count = 0;
    while (count < items.size() && items[count].name() == name) ++count;
    const auto taken = items.first(count);
    items = items.subspan(count);
    return taken;
  }
};

// Compares two runs. One thread at a time.
class RunComparer {
 public:
  RunComparer(Trial& a, Trial& b, const CompareOptions& options)
      : a_(a), b_(b), options_(options) {}

  RunComparison Compare(const std::function<void(uint64_t)>& started,
                        const std::function<void()>& done) {
    const std::vector<int64_t> a_steps = a_.Steps(options_.mode);
    const std::vector<int64_t> b_steps = b_.Steps(options_.mode);
    result_.steps_only_a = Minus(a_steps, b_steps);
    result_.steps_only_b = Minus(b_steps, a_steps);
    const std::vector<std::string> a_names = NamesOf(a_);
    const std::vector<std::string> b_names = NamesOf(b_);
    result_.tensors_only_a = Minus(a_names, b_names);
    result_.tensors_only_b = Minus(b_names, a_names);

    names_ = Common(a_names, b_names);
    StepSweep a_sweep(&a_.reader(), IdsOf(a_));
    StepSweep b_sweep(&b_.reader(), IdsOf(b_));
    Side a = {a_.reader(), a_sweep, NumbersOf(a_sweep)};
    Side b = {b_.reader(), b_sweep, NumbersOf(b_sweep)};
    std::vector<int64_t> steps;
    std::ranges::set_union(a.steps, b.steps, std::back_inserter(steps));
    started(steps.size());
    for (const int64_t step : steps) {
      CompareStep(step, a, b);
      done();
    }
    result_.tensors_different = static_cast<int64_t>(different_.size());
    return std::move(result_);
  }

 private:
  std::vector<std::string> NamesOf(Trial& trial) const {
    return KeepMatching(trial.TensorNames({.mode = options_.mode}),
                        options_.regexes);
  }

  std::vector<trial::Reader::TensorId> IdsOf(Trial& trial) const {
    std::vector<trial::Reader::TensorId> ids;
    for (const std::string& name : names_) {
      ids.push_back(*trial.reader().Find(name));
    }
    return ids;
  }

  std::vector<int64_t> NumbersOf(const StepSweep& sweep) const {
    std::vector<int64_t> numbers;
    for (const auto& place : sweep.Steps(options_.mode)) {
      numbers.push_back(options_.mode == Mode::kGlobal ? place.step
                                                       : place.mode_step);
    }
    return numbers;
  }

  void CompareStep(int64_t step, Side& a, Side& b) {
    a.MoveTo(step, options_.mode);
    b.MoveTo(step, options_.mode);
    // Steps that a whole run lacks are counted as steps.
    const bool a_only = std::ranges::binary_search(result_.steps_only_a, step);
    const bool b_only = std::ranges::binary_search(result_.steps_only_b, step);
    for (size_t i = 0; i < names_.size(); ++i) {
      const std::span<const Found> of_a = a.Take(names_[i]);
      const std::span<const Found> of_b = b.Take(names_[i]);
      if (of_a.empty() || of_b.empty()) {
        if (!of_a.empty() && !a_only) ++result_.entries_only_a;
        if (!of_b.empty() && !b_only) ++result_.entries_only_b;
        continue;
      }
      // Jobs of one worker each may call it what they like.
      if (of_a.size() == 1 && of_b.size() == 1) {
        CompareEntry(step, i, {a.reader, of_a[0]}, {b.reader, of_b[0]});
      } else {
        CompareWorkers(step, i, a, of_a, b, of_b);
      }
    }
  }

  // Both are in the order of their workers.
  void CompareWorkers(int64_t step, size_t tensor, const Side& a,
                      std::span<const Found> of_a, const Side& b,
                      std::span<const Found> of_b) {
    size_t i = 0;
    size_t j = 0;
    while (i < of_a.size() && j < of_b.size()) {
      const int order = of_a[i].worker().compare(of_b[j].worker());
      if (order == 0) {
        CompareEntry(step, tensor, {a.reader, of_a[i]}, {b.reader, of_b[j]});
      }
      if (order < 0) ++result_.entries_only_a;
      if (order > 0) ++result_.entries_only_b;
      if (order <= 0) ++i;
      if (order >= 0) ++j;
    }
    result_.entries_only_a += static_cast<int64_t>(of_a.size() - i);
    result_.entries_only_b += static_cast<int64_t>(of_b.size() - j);
  }

  void CompareEntry(int64_t step, size_t tensor, const SavedEntry& a,
                    const SavedEntry& b) {
    std::optional<EntryDifference> found;
    try {
      found = CompareEntries(a, b, options_.tolerance);
    } catch (const FormatError&) {
      ++result_.damaged;  // The trial has noted what.
      return;
    }
    ++result_.compared;
    if (!found) return;
    ++result_.different;
    different_.insert(tensor);
    RunDifference difference = {.step = step,
                                .tensor = names_[tensor],
                                .worker = a.worker(),
                                .what = std::move(found->what),
                                .comparison = std::move(found->comparison)};
    if (!result_.first) result_.first = difference;
    Keep(std::move(difference));
  }

  // Keeps the largest ones in order; of equal ones the earlier.
  void Keep(RunDifference difference) {
    std::vector<RunDifference>& largest = result_.largest;
    const auto place = std::ranges::upper_bound(
        largest, difference.comparison.largest, std::greater<>(),
        [](const RunDifference& kept) { return kept.comparison.largest; });
    largest.insert(place, std::move(difference));
    if (largest.size() > options_.limit) largest.pop_back();
  }

  Trial& a_;
  Trial& b_;
  const CompareOptions& options_;
  std::vector<std::string> names_;  // Of tensors that both have.
  std::set<size_t> different_;
  RunComparison result_;
};

Json DifferenceJson(const RunDifference& difference) {
  const Comparison& comparison = difference.comparison;
  Json json = {{"step", difference.step},
               {"tensor", difference.tensor},
               {"worker", difference.worker},
               {"what", difference.what},
               {"mismatch", nullptr},
               {"count", comparison.count},
               {"differing", comparison.differing},
               {"largest", JsonNumber(comparison.largest)},
               {"where", nullptr},
               {"a", nullptr},
               {"b", nullptr}};
  if (!comparison.mismatch.empty()) json["mismatch"] = comparison.mismatch;
  if (comparison.where >= 0) {
    json["where"] = comparison.where;
    json["a"] = comparison.a;
    json["b"] = comparison.b;
  }
  return json;
}

}  // namespace

bool RunComparison::equal() const { return !differ() && damaged == 0; }

bool RunComparison::differ() const {
  return !(steps_only_a.empty() && steps_only_b.empty() &&
           tensors_only_a.empty() && tensors_only_b.empty() &&
           entries_only_a == 0 && entries_only_b == 0 && different == 0);
}

RunComparison CompareRuns(Trial& a, Trial& b, const CompareOptions& options,
                          const std::function<void(uint64_t)>& started,
                          const std::function<void()>& done) {
  return RunComparer(a, b, options).Compare(started, done);
}

Json ToJson(const RunComparison& result) {
  Json largest = Json::array();
  for (const RunDifference& difference : result.largest) {
    largest.push_back(DifferenceJson(difference));
  }
  return {{"equal", result.equal()},
          {"first", result.first ? DifferenceJson(*result.first) : Json()},
          {"compared", result.compared},
          {"damaged", result.damaged},
          {"different", result.different},
          {"tensors_different", result.tensors_different},
          {"steps_only_a", result.steps_only_a},
          {"steps_only_b", result.steps_only_b},
          {"tensors_only_a", result.tensors_only_a},
          {"tensors_only_b", result.tensors_only_b},
          {"entries_only_a", result.entries_only_a},
          {"entries_only_b", result.entries_only_b},
          {"largest", std::move(largest)}};
}

}  // namespace smdebug::query
