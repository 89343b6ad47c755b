#include "src/query/run_compare.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "src/query/entry_compare.h"
#include "src/query/name_match.h"

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

// A step, and a tensor by its number.
struct Cell {
  int64_t step;
  size_t tensor;
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
    const std::vector<Cell> cells = ListCells();
    started(cells.size());
    for (const Cell& cell : cells) {
      CompareCell(cell);
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

  // What to compare, by step and then by name.
  std::vector<Cell> ListCells() {
    std::vector<Cell> cells;
    for (size_t i = 0; i < names_.size(); ++i) {
      const auto a = a_.tensor(names_[i]).Steps(options_.mode);
      const auto b = b_.tensor(names_[i]).Steps(options_.mode);
      for (const int64_t step : Common(a, b)) cells.push_back({step, i});
      // Steps that a whole run lacks are counted as steps.
      result_.entries_only_a +=
          std::ssize(Minus(Minus(a, b), result_.steps_only_a));
      result_.entries_only_b +=
          std::ssize(Minus(Minus(b, a), result_.steps_only_b));
    }
    std::ranges::sort(cells, {}, [](const Cell& cell) {
      return std::pair(cell.step, cell.tensor);
    });
    return cells;
  }

  void CompareCell(const Cell& cell) {
    const std::string& name = names_[cell.tensor];
    const Tensor a = a_.tensor(name);
    const Tensor b = b_.tensor(name);
    const auto a_workers = a.Workers(cell.step, options_.mode);
    const auto b_workers = b.Workers(cell.step, options_.mode);
    // Jobs of one worker each may call it what they like.
    if (a_workers.size() == 1 && b_workers.size() == 1) {
      CompareEntry(cell, {a, a_workers[0]}, {b, b_workers[0]});
      return;
    }
    for (const std::string& worker : Common(a_workers, b_workers)) {
      CompareEntry(cell, {a, worker}, {b, worker});
    }
    result_.entries_only_a += std::ssize(Minus(a_workers, b_workers));
    result_.entries_only_b += std::ssize(Minus(b_workers, a_workers));
  }

  void CompareEntry(const Cell& cell, const TensorOfWorker& a,
                    const TensorOfWorker& b) {
    ++result_.compared;
    std::optional<EntryDifference> found =
        CompareEntries(a, b, cell.step, options_.mode, options_.tolerance);
    if (!found) return;
    ++result_.different;
    different_.insert(cell.tensor);
    RunDifference difference = {.step = cell.step,
                                .tensor = names_[cell.tensor],
                                .worker = a.worker,
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

bool RunComparison::equal() const {
  return steps_only_a.empty() && steps_only_b.empty() &&
         tensors_only_a.empty() && tensors_only_b.empty() &&
         entries_only_a == 0 && entries_only_b == 0 && different == 0;
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
