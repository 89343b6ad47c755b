#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>

#include "smdebug/hook.h"

namespace smdebug {

// XGBoosterFeatureScore() of the program's XGBoost: booster, configuration,
// then number of features, their names, rank, shape, scores.
using XgboostFeatureScore = int (*)(void*, const char*, uint64_t*,
                                    const char***, uint64_t*, const uint64_t**,
                                    const float**);

// Saves how much each feature has to do with the splits of a booster's trees:
// "feature_importance/<type>/<feature>", for the types below. A value is what
// XGBoost gives for the type, divided by the sum over the features; 0 where
// that is 0. A feature without a split has none.
//
// One thread at a time.
class XgboostImportance {
 public:
  static constexpr std::array<const char*, 5> kTypes = {
      "weight", "gain", "cover", "total_gain", "total_cover"};

  explicit XgboostImportance(XgboostFeatureScore score) : score_(score) {}

  // False if XGBoost refuses; XGBGetLastError() says why. Features are named by
  // XgboostFeature().
  bool Save(Hook& hook, void* booster, std::span<const std::string> names = {});

 private:
  struct Feature {
    explicit Feature(const std::string& name);

    // By the type's position in kTypes.
    float Score(size_t type) const;

    std::array<TensorName, kTypes.size()> names;
    float splits = 0;
    float gain = 0;   // Of all splits.
    float cover = 0;  // Of all splits.
  };

  // Asks XGBoost for one type, and sets `member` of each feature that it knows.
  bool Ask(void* booster, const char* config,
           std::span<const std::string> names, float Feature::*member);

  const XgboostFeatureScore score_;
  std::map<std::string, Feature, std::less<>> features_;
};

}  // namespace smdebug
