#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <utility>

namespace smdebug::rules {

// How often each label got each prediction. One thread at a time.
class ConfusionMatrix {
 public:
  using Cells = std::map<std::pair<int64_t, int64_t>, int64_t>;

  void Add(int64_t label, int64_t prediction, int64_t count = 1) {
    cells_[{label, prediction}] += count;
    labels_[label] += count;
    predictions_[prediction] += count;
    pairs_ += count;
    right_ += label == prediction ? count : 0;
  }

  void Add(const ConfusionMatrix& other) {
    for (const auto& [cell, count] : other.cells_) {
      Add(cell.first, cell.second, count);
    }
  }

  int64_t pairs() const noexcept { return pairs_; }
  // Part of the pairs that is right.
  double Accuracy() const {
    return static_cast<double>(right_) / static_cast<double>(pairs_);
  }

  // Counts by label and prediction, without those that are 0.
  const Cells& cells() const noexcept { return cells_; }
  // How often a class was a label, a prediction, both.
  int64_t Labelled(int64_t number) const { return Count(labels_, number); }
  int64_t Predicted(int64_t number) const {
    return Count(predictions_, number);
  }
  int64_t Right(int64_t number) const {
    return Count(cells_, {number, number});
  }

  // All that occur.
  std::set<int64_t> Classes() const {
    std::set<int64_t> classes;
    for (const auto& [number, count] : labels_) classes.insert(number);
    for (const auto& [number, count] : predictions_) classes.insert(number);
    return classes;
  }

 private:
  template <typename Key>
  static int64_t Count(const std::map<Key, int64_t>& counts, const Key& key) {
    const auto it = counts.find(key);
    return it == counts.end() ? 0 : it->second;
  }

  Cells cells_;
  std::map<int64_t, int64_t> labels_;
  std::map<int64_t, int64_t> predictions_;
  int64_t pairs_ = 0;
  int64_t right_ = 0;
};

}  // namespace smdebug::rules
