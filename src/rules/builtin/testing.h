#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "smdebug/config.h"
#include "smdebug/error.h"
#include "smdebug/rule.h"
#include "src/base/regex.h"

namespace smdebug::rules {

// A run in memory that a rule looks at step by step. It has the collections
// weights, biases, gradients and losses of a native program.
class FakeRun final : public StepView {
 public:
  using Shape = std::vector<int64_t>;

  // Where the following calls put data. Steps come in order.
  FakeRun& At(int64_t step, Mode mode = Mode::kGlobal,
              std::optional<int64_t> mode_step = {}) {
    int64_t earlier = 0;
    for (const Step& known : steps_) earlier += known.place.mode == mode;
    steps_.push_back({.place = {.step = step,
                                .mode = mode,
                                .mode_step = mode_step.value_or(
                                    mode == Mode::kGlobal ? step : earlier)},
                      .tensors = {}});
    return *this;
  }

  // `shape` empty: as many as there are.
  FakeRun& Put(const std::string& name, const std::vector<double>& values,
               Shape shape = {}) {
    return PutAs(name, DType::kFloat64, values, std::move(shape));
  }

  FakeRun& PutInts(const std::string& name, const std::vector<int64_t>& values,
                   Shape shape = {}) {
    return PutAs(name, DType::kInt64, values, std::move(shape));
  }

  FakeRun& PutTexts(const std::string& name, std::vector<std::string> texts) {
    const auto owner =
        std::make_shared<const std::vector<std::string>>(std::move(texts));
    steps_.back().tensors[name].value =
        Value({static_cast<int64_t>(owner->size())},
              {owner->begin(), owner->end()}, owner);
    return *this;
  }

  FakeRun& PutReduction(const std::string& name, Reduction reduction,
                        double value) {
    steps_.back().tensors[name].reductions.emplace_back(reduction, value);
    return *this;
  }

  FakeRun& PutCounts(const std::string& name, const ValueCounts& counts) {
    steps_.back().tensors[name].counts = counts;
    return *this;
  }

  FakeRun& Collect(const std::string& collection, const std::string& regex) {
    collections_[collection].include_regex = {regex};
    return *this;
  }

  FakeRun& CompareWith(FakeRun* other) {
    others_.push_back(other);
    return *this;
  }

  // What the rule says from `start` on.
  std::vector<Finding> Judge(const std::string& spec, int64_t start = 0) {
    return JudgeWith(*MakeRule(ParseRuleSpec(spec)), start);
  }
  std::vector<Finding> JudgeWith(Rule& rule, int64_t start = 0) {
    std::vector<Finding> findings;
    const auto take = [&](std::vector<Finding> found) {
      for (Finding& finding : found) {
        finding.step = step();
        finding.mode = mode();
        findings.push_back(std::move(finding));
      }
    };
    for (const Step& step : steps_) {
      if (step.place.step < start) continue;
      MoveTo(step.place);
      take(rule.Check(*this));
    }
    take(rule.Finish(*this));
    return findings;
  }

  // The steps at which it fires.
  std::vector<int64_t> Fired(const std::string& spec, int64_t start = 0) {
    std::vector<int64_t> steps;
    for (const Finding& finding : Judge(spec, start)) {
      if (steps.empty() || steps.back() != finding.step) {
        steps.push_back(finding.step);
      }
    }
    return steps;
  }

  std::vector<std::string> Select(const TensorSelection& selection) override {
    std::vector<std::string> names;
    const Step* now = Find(step());
    if (now == nullptr) return names;
    for (const auto& [name, saved] : now->tensors) {
      if (selection.empty() || Takes(selection, name)) names.push_back(name);
    }
    return names;
  }

  std::vector<StepPlace> History(std::string_view tensor, Mode mode) override {
    std::vector<StepPlace> places;
    for (const Step& known : steps_) {
      if (known.place.step <= step() && known.tensors.contains(tensor) &&
          (mode == Mode::kGlobal || known.place.mode == mode)) {
        places.push_back(known.place);
      }
    }
    return places;
  }

  std::optional<Value> ValueAt(std::string_view tensor, int64_t at) override {
    const Saved* saved = FindSaved(tensor, at);
    return saved == nullptr ? std::nullopt : saved->value;
  }

  std::optional<double> ReductionAt(std::string_view tensor, int64_t at,
                                    Reduction reduction) override {
    const Saved* saved = FindSaved(tensor, at);
    if (saved == nullptr) return std::nullopt;
    for (const auto& [known, value] : saved->reductions) {
      if (known == reduction) return value;
    }
    if (!saved->value || saved->value->dtype() == DType::kString) {
      return std::nullopt;
    }
    return saved->value->Reduce(reduction);
  }

  std::optional<ValueCounts> CountsAt(std::string_view tensor,
                                      int64_t at) override {
    const Saved* saved = FindSaved(tensor, at);
    return saved == nullptr ? std::nullopt : saved->counts;
  }

  StepView* Other(size_t number) override {
    return number < others_.size() ? others_[number] : nullptr;
  }

 private:
  struct Saved {
    std::optional<Value> value;
    std::vector<std::pair<Reduction, double>> reductions;
    std::optional<ValueCounts> counts;
  };
  struct Step {
    StepPlace place;
    std::map<std::string, Saved, std::less<>> tensors;
  };

  template <typename T>
  FakeRun& PutAs(const std::string& name, DType dtype, std::vector<T> values,
                 Shape shape) {
    if (shape.empty()) shape = {static_cast<int64_t>(values.size())};
    const auto owner =
        std::make_shared<const std::vector<T>>(std::move(values));
    steps_.back().tensors[name].value =
        Value(dtype, std::move(shape), std::as_bytes(std::span(*owner)), owner);
    return *this;
  }

  void MoveTo(const StepPlace& place) {
    place_ = place;
    for (FakeRun* other : others_) other->MoveTo(place);
  }

  bool Takes(const TensorSelection& selection, const std::string& name) const {
    std::vector<std::string> regexes = selection.regexes;
    for (const std::string& collection : selection.collections) {
      const auto it = collections_.find(collection);
      if (it == collections_.end()) continue;
      regexes.insert(regexes.end(), it->second.include_regex.begin(),
                     it->second.include_regex.end());
    }
    return std::ranges::any_of(regexes, [&](const std::string& regex) {
      return base::Regex(regex, "regex").Search(name);
    });
  }

  const Step* Find(int64_t at) const {
    const auto it = std::ranges::find_if(
        steps_, [&](const Step& step) { return step.place.step == at; });
    return it == steps_.end() ? nullptr : &*it;
  }

  const Saved* FindSaved(std::string_view tensor, int64_t at) const {
    const Step* found = Find(at);
    if (found == nullptr) return nullptr;
    const auto it = found->tensors.find(tensor);
    return it == found->tensors.end() ? nullptr : &it->second;
  }

  std::vector<Step> steps_;
  std::map<std::string, Collection, std::less<>> collections_ =
      BuiltInCollections(Framework::kNative);
  std::vector<FakeRun*> others_;
};

}  // namespace smdebug::rules
