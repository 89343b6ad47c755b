#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <xgboost/c_api.h>

#include "smdebug/hook.h"
#include "smdebug/internal/xgboost_importance.h"
#include "smdebug/internal/xgboost_text.h"
#include "smdebug/tensor.h"

namespace smdebug {

// What an XgboostHook saves of besides the model.
struct XgboostData {
  // The collection hyperparameters, as the caller set them.
  std::map<std::string, std::string> hyperparameters = {};
  // SHAP values are of these rows; null: none are saved.
  DMatrixHandle train = nullptr;
  // Predictions and labels are of these rows; null: none are saved.
  DMatrixHandle validation = nullptr;
};

// Saves what a trainer on XGBoost's C API computes: the collections and names
// of the hook for Python, so that the same rules and configurations apply
// (docs/frameworks/xgboost.md).
//
//   smdebug::XgboostHook hook(config, {.validation = validation});
//   for (int round = 0; round < rounds; ++round) {
//     XGBoosterUpdateOneIter(booster, round, train);
//     hook.AfterRound(booster, round, sets, names);
//   }
//
// A linear booster has neither trees nor importance of features. A round of
// which nothing is saved costs a comparison. After construction, which throws
// as that of Hook does, nothing is thrown: what XGBoost refuses is counted as
// skipped, with its reason. Header-only, for the XGBoost of the program, 1.7 or
// later. One thread at a time.
class XgboostHook {
 public:
  explicit XgboostHook(HookConfig config, XgboostData data = {},
                       const Worker& worker = {})
      : hook_(OfXgboost(std::move(config)), worker), data_(std::move(data)) {}

  // The hook itself: modes, scalars, tensors of one's own, rules.
  Hook& core() noexcept { return hook_; }

  // Saves what is due of round `round`, which has just been boosted. Metrics of
  // `sets`, named `names`, are evaluated only if anything is due.
  void AfterRound(BoosterHandle booster, int round,
                  std::span<const DMatrixHandle> sets,
                  std::span<const char* const> names) {
    Begin(booster, round);
    if (!hook_.StepIsDue()) return;
    std::vector<DMatrixHandle> handles(sets.begin(), sets.end());
    std::vector<const char*> texts(names.begin(), names.end());
    const char* line = "";
    if (Works("metrics",
              XGBoosterEvalOneIter(booster, round, handles.data(), texts.data(),
                                   handles.size(), &line))) {
      SaveMetrics(line);
    }
    SaveModel(booster);
    hook_.EndStep();
  }

  // The same with metrics that were evaluated: what XGBoosterEvalOneIter()
  // returned.
  void AfterRound(BoosterHandle booster, int round,
                  std::string_view metrics = {}) {
    Begin(booster, round);
    if (!hook_.StepIsDue()) return;
    SaveMetrics(metrics);
    SaveModel(booster);
    hook_.EndStep();
  }

  void Close() { hook_.Close(); }

 private:
  static constexpr int64_t kOne[] = {1};
  static constexpr std::array<const char*, 11> kColumns = {
      "Tree", "Node",    "ID",   "Feature", "Split",   "Yes",
      "No",   "Missing", "Gain", "Cover",   "Category"};

  static HookConfig OfXgboost(HookConfig config) {
    config.framework = Framework::kXgboost;
    return config;
  }

  void Begin(BoosterHandle booster, int round) {
    hook_.BeginStep(round);
    if (!hook_.StepIsDue() || !features_.empty()) return;
    FindFeatures(booster);
    bst_ulong length = 0;
    const char* config = "";
    has_trees_ = XGBoosterSaveJsonConfig(booster, &length, &config) != 0 ||
                 std::string_view(config, length).find(R"("gblinear")") ==
                     std::string_view::npos;
  }

  // Whether a call of XGBoost went well; else what it was for is skipped.
  bool Works(const char* what, int code) {
    if (code == 0) return true;
    hook_.Skip(what,
               std::string("cannot be had of XGBoost: ") + XGBGetLastError());
    return false;
  }

  // Those of the booster; without names, those of the data, or their numbers.
  void FindFeatures(BoosterHandle booster) {
    bst_ulong count = 0;
    const char** names = nullptr;
    if (XGBoosterGetStrFeatureInfo(booster, "feature_name", &count, &names) ==
        0) {
      features_.assign(names, names + count);
    }
    for (const DMatrixHandle data : {data_.train, data_.validation}) {
      if (!features_.empty() || data == nullptr) continue;
      if (XGDMatrixGetStrFeatureInfo(data, "feature_name", &count, &names) ==
          0) {
        features_.assign(names, names + count);
      }
    }
    if (!features_.empty()) return;
    if (XGBoosterGetNumFeature(booster, &count) != 0) return;
    for (bst_ulong i = 0; i < count; ++i) {
      features_.push_back("f" + std::to_string(i));
    }
  }

  void SaveNumber(const std::string& name, double value) {
    hook_.Save(name, ViewOf<double>({&value, 1}, kOne));
  }

  void SaveMetrics(std::string_view line) {
    for (const auto& [name, value] : ParseXgboostMetrics(line)) {
      SaveNumber(name, value);
    }
  }

  void SaveModel(BoosterHandle booster) {
    SaveHyperparameters();
    SavePredictions(booster);
    SaveLabels();
    if (has_trees_) {
      SaveImportance(booster);
      SaveTrees(booster);
    }
    SaveShap(booster);
  }

  void SaveHyperparameters() {
    for (const auto& [name, value] : data_.hyperparameters) {
      const std::string_view text = value;
      hook_.Save("hyperparameters/" + name,
                 ViewOf<std::string_view>({&text, 1}, kOne));
    }
  }

  // A prediction; empty if it cannot be had. The memory is XGBoost's, until the
  // next one.
  TensorView Predict(BoosterHandle booster, DMatrixHandle data, int type,
                     const char* what, std::vector<int64_t>& shape) {
    const std::string config =
        R"({"type": )" + std::to_string(type) +
        R"(, "training": false, "iteration_begin": 0, "iteration_end": 0, )"
        R"("strict_shape": false})";
    const bst_ulong* lengths = nullptr;
    bst_ulong rank = 0;
    const float* values = nullptr;
    if (!Works(what, XGBoosterPredictFromDMatrix(booster, data, config.c_str(),
                                                 &lengths, &rank, &values))) {
      return {};
    }
    shape.assign(lengths, lengths + rank);
    return {values, DType::kFloat32, shape};
  }

  void SavePredictions(BoosterHandle booster) {
    if (data_.validation == nullptr || !hook_.IsDue("predictions")) return;
    std::vector<int64_t> shape;
    const TensorView view =
        Predict(booster, data_.validation, /*type=*/0, "predictions", shape);
    if (view.data != nullptr) hook_.Save("predictions", view);
  }

  void SaveLabels() {
    if (data_.validation == nullptr || !hook_.IsDue("labels")) return;
    bst_ulong count = 0;
    const float* labels = nullptr;
    if (!Works("labels", XGDMatrixGetFloatInfo(data_.validation, "label",
                                               &count, &labels)) ||
        count == 0) {
      return;
    }
    const int64_t shape[] = {static_cast<int64_t>(count)};
    hook_.Save("labels", TensorView{labels, DType::kFloat32, shape});
  }

  void SaveImportance(BoosterHandle booster) {
    for (const char* const type : XgboostImportance::kTypes) {
      const std::string prefix =
          std::string("feature_importance/") + type + "/";
      if (!AnyIsDue(Named(prefix, features_))) continue;
      const bool saved = importance_.Save(hook_, booster, features_);
      Works("feature_importance", saved ? 0 : -1);
      return;
    }
  }

  void SaveTrees(BoosterHandle booster) {
    if (!AnyIsDue(Named("trees/", kColumns))) return;
    int rounds = 0;
    BoosterHandle last = nullptr;
    if (!Works("trees", XGBoosterBoostedRounds(booster, &rounds)) ||
        !Works("trees",
               XGBoosterSlice(booster, rounds - 1, rounds, 1, &last))) {
      return;
    }
    bst_ulong count = 0;
    const char** dumps = nullptr;
    if (Works("trees", XGBoosterDumpModelEx(last, "", /*with_stats=*/1, "text",
                                            &count, &dumps))) {
      const std::vector<std::string_view> texts(dumps, dumps + count);
      SaveColumns(ParseXgboostTrees(
          texts, (rounds - 1) * static_cast<int64_t>(count), features_));
    }
    XGBoosterFree(last);
  }

  void SaveColumns(const XgboostTrees& trees) {
    const int64_t shape[] = {static_cast<int64_t>(trees.node.size())};
    const auto numbers = [&]<typename T>(const char* name,
                                         const std::vector<T>& column) {
      hook_.Save(std::string("trees/") + name, ViewOf<T>(column, shape));
    };
    const auto texts = [&](const char* name,
                           const std::vector<std::string>& column) {
      const std::vector<std::string_view> views(column.begin(), column.end());
      hook_.Save(std::string("trees/") + name,
                 ViewOf<std::string_view>(views, shape));
    };
    numbers("Tree", trees.tree);
    numbers("Node", trees.node);
    texts("ID", trees.id);
    texts("Feature", trees.feature);
    numbers("Split", trees.split);
    texts("Yes", trees.yes);
    texts("No", trees.no);
    texts("Missing", trees.missing);
    numbers("Gain", trees.gain);
    numbers("Cover", trees.cover);
    texts("Category", trees.category);
  }

  template <typename Names>
  static std::vector<std::string> Named(const std::string& prefix,
                                        const Names& names) {
    std::vector<std::string> all;
    all.reserve(std::size(names) + 1);
    for (const auto& name : names) all.push_back(prefix + name);
    return all;
  }

  // The last column of SHAP values is the bias.
  std::vector<std::string> ShapNames(const std::string& kind) const {
    std::vector<std::string> names = Named(kind + "/", features_);
    names.push_back(kind + "/bias");
    return names;
  }

  bool AnyIsDue(const std::vector<std::string>& names) {
    for (const std::string& name : names) {
      if (hook_.IsDue(name)) return true;
    }
    return false;
  }

  void SaveShap(BoosterHandle booster) {
    if (data_.train == nullptr) return;
    const auto full = ShapNames("full_shap");
    const auto average = ShapNames("average_shap");
    const auto average_signed = ShapNames("average_shap_signed");
    if (!AnyIsDue(full) && !AnyIsDue(average) && !AnyIsDue(average_signed)) {
      return;
    }
    std::vector<int64_t> shape;
    const TensorView shap =
        Predict(booster, data_.train, /*type=*/2, "SHAP values", shape);
    if (shap.data == nullptr) return;
    const std::vector<std::string_view> names(full.begin(), full.end());
    hook_.SaveAs(names, shap);
    SaveAverages(shap, average, average_signed);
  }

  // Means over rows and classes: of magnitudes, and of the values.
  void SaveAverages(const TensorView& shap,
                    const std::vector<std::string>& names,
                    const std::vector<std::string>& signed_names) {
    const size_t columns = names.size();
    const auto* values = static_cast<const float*>(shap.data);
    const auto size = static_cast<size_t>(shap.size());
    if (size == 0 || size % columns != 0) return;
    std::vector<double> magnitude(columns);
    std::vector<double> sum(columns);
    for (size_t i = 0; i < size; ++i) {
      const double value = values[i];
      magnitude[i % columns] += value < 0 ? -value : value;
      sum[i % columns] += value;
    }
    const auto rows = static_cast<double>(size / columns);
    for (size_t i = 0; i < columns; ++i) {
      const auto mean_magnitude = static_cast<float>(magnitude[i] / rows);
      const auto mean = static_cast<float>(sum[i] / rows);
      hook_.Save(names[i], ViewOf<float>({&mean_magnitude, 1}, kOne));
      hook_.Save(signed_names[i], ViewOf<float>({&mean, 1}, kOne));
    }
  }

  Hook hook_;
  const XgboostData data_;
  std::vector<std::string> features_;
  XgboostImportance importance_{&XGBoosterFeatureScore};
  bool has_trees_ = true;
};

}  // namespace smdebug
