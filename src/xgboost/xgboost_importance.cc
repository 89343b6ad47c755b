#include "smdebug/internal/xgboost_importance.h"

#include <cstddef>
#include <vector>

#include "smdebug/internal/xgboost_text.h"
#include "smdebug/tensor.h"

namespace smdebug {
namespace {

TensorName Named(const char* type, const std::string& feature) {
  return TensorName(std::string("feature_importance/") + type + "/" + feature);
}

}  // namespace

XgboostImportance::Feature::Feature(const std::string& name)
    : names{Named(kTypes[0], name), Named(kTypes[1], name),
            Named(kTypes[2], name), Named(kTypes[3], name),
            Named(kTypes[4], name)} {}

float XgboostImportance::Feature::Score(size_t type) const {
  // XGBoost's averages are of single precision too.
  const float scores[] = {splits, gain / splits, cover / splits, gain, cover};
  return scores[type];
}

bool XgboostImportance::Ask(void* booster, const char* config,
                            std::span<const std::string> names,
                            float Feature::*member) {
  uint64_t count = 0;
  uint64_t rank = 0;
  const char** called = nullptr;
  const uint64_t* shape = nullptr;
  const float* scores = nullptr;
  if (score_(booster, config, &count, &called, &rank, &shape, &scores) != 0) {
    return false;
  }
  for (uint64_t i = 0; i < count; ++i) {
    const std::string name = XgboostFeature(called[i], names);
    auto it = features_.find(name);
    if (it == features_.end()) it = features_.emplace(name, name).first;
    it->second.*member = scores[i];
  }
  return true;
}

bool XgboostImportance::Save(Hook& hook, void* booster,
                             std::span<const std::string> names) {
  for (auto& [name, feature] : features_) feature.splits = 0;
  // The averages follow from the totals, so that the trees are gone through
  // only thrice.
  if (!Ask(booster, R"({"importance_type": "weight"})", names,
           &Feature::splits) ||
      !Ask(booster, R"({"importance_type": "total_gain"})", names,
           &Feature::gain) ||
      !Ask(booster, R"({"importance_type": "total_cover"})", names,
           &Feature::cover)) {
    return false;
  }
  std::vector<Feature*> split;
  for (auto& [name, feature] : features_) {
    if (feature.splits > 0) split.push_back(&feature);
  }
  constexpr int64_t kOne[] = {1};
  for (size_t type = 0; type < kTypes.size(); ++type) {
    double sum = 0;
    for (const Feature* feature : split) sum += feature->Score(type);
    for (Feature* feature : split) {
      const double share = sum == 0 ? 0 : feature->Score(type) / sum;
      hook.Save(feature->names[type], ViewOf<double>({&share, 1}, kOne));
    }
  }
  return true;
}

}  // namespace smdebug
