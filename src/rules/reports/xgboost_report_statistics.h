#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "src/rules/builtin/confusion_matrix.h"

namespace smdebug::rules {

// Parts of what was predicted, or of what was there, that is right. Without
// any, 0.
struct Scores {
  double precision = 0;
  double recall = 0;
  double f1 = 0;
};

// One class among others.
struct ClassScores {
  int64_t number = 0;
  int64_t labels = 0;
  int64_t predictions = 0;
  Scores scores = {};
};

// How well classes were told apart.
struct Classification {
  ConfusionMatrix matrix;
  std::vector<ClassScores> classes;  // By number.
  double accuracy = 0;
  Scores micro;     // Over all samples.
  Scores macro;     // Mean over the classes.
  Scores weighted;  // The same, weighted by the number of labels.
};

// Of labels and predictions of the same length. A sample with a negative class
// does not count.
Classification Classify(std::span<const int64_t> labels,
                        std::span<const int64_t> predictions);

// Part of the positives that is found against the part of the negatives that
// is mistaken, for every threshold.
struct RocCurve {
  std::vector<std::pair<double, double>> points;  // From (0, 0) to (1, 1).
  double area = 0;
};

// Of labels 0 and 1; larger scores speak for 1. Nullopt if there is but one
// class or a score is NaN.
std::optional<RocCurve> MakeRocCurve(std::span<const int64_t> labels,
                                     std::span<const double> scores);

// Equal bins from `low` to `high`; the last one includes its end.
struct Bins {
  double low = 0;
  double high = 0;
  size_t count = 0;

  double Edge(size_t bin) const {
    return low +
           (high - low) * static_cast<double>(bin) / static_cast<double>(count);
  }
  // Of a finite value; those outside go to the ends.
  size_t Of(double value) const;
};

// Bins over the finite values; nullopt if there are none.
std::optional<Bins> BinsOver(std::span<const double> values, size_t count);

// How many finite values each bin has.
std::vector<int64_t> CountIn(const Bins& bins, std::span<const double> values);

// Mean |prediction - label| for the labels of each bin; nullopt where there are
// none.
std::vector<std::optional<double>> ErrorIn(const Bins& bins,
                                           std::span<const double> labels,
                                           std::span<const double> predictions);

}  // namespace smdebug::rules
