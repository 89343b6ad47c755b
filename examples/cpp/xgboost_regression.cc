// xgboost_regression OUT_DIR: a trainer on XGBoost's C API that learns a
// function of two of five features, judged while it trains.
//
// `smdebug watch OUT_DIR --rule Overfit` judges it from outside.
#include <cstdio>
#include <exception>
#include <random>
#include <stdexcept>
#include <vector>

#include "smdebug/guard.h"
#include "smdebug/xgboost.h"

namespace {

constexpr bst_ulong kFeatures = 5;

void Check(int code) {
  if (code != 0) throw std::runtime_error(XGBGetLastError());
}

DMatrixHandle MakeData(bst_ulong rows, std::mt19937& random) {
  std::normal_distribution<float> normal;
  std::vector<float> values(rows * kFeatures);
  std::vector<float> labels(rows);
  for (float& value : values) value = normal(random);
  for (bst_ulong i = 0; i < rows; ++i) {
    const float* row = &values[i * kFeatures];
    labels[i] = 3 * row[0] - row[1] * row[1] + 0.1F * normal(random);
  }
  DMatrixHandle data = nullptr;
  Check(XGDMatrixCreateFromMat(values.data(), rows, kFeatures, -999, &data));
  Check(XGDMatrixSetFloatInfo(data, "label", labels.data(), rows));
  return data;
}

int Train(const char* out_dir) {
  std::mt19937 random(1);
  DMatrixHandle train = MakeData(2000, random);
  DMatrixHandle validation = MakeData(500, random);
  BoosterHandle booster = nullptr;
  Check(XGBoosterCreate(&train, 1, &booster));
  Check(XGBoosterSetParam(booster, "max_depth", "4"));
  Check(XGBoosterSetParam(booster, "eta", "0.2"));

  smdebug::HookConfig config;
  config.out_dir = out_dir;
  config.include_collections = {"metrics", "feature_importance", "average_shap",
                                "predictions", "labels"};
  config.save_config = smdebug::SaveConfig::Every({.save_interval = 5});
  smdebug::XgboostHook hook(config, {.train = train, .validation = validation});
  const smdebug::RuleGuard guard(hook.core(),
                                 {smdebug::ToEvaluation(smdebug::ParseRuleSpec(
                                     "LossNotDecreasing:num_steps=10"))});

  const std::vector<DMatrixHandle> sets = {train, validation};
  const std::vector<const char*> names = {"train", "validation"};
  for (int round = 0; round < 50 && guard.fired_rules() == 0; ++round) {
    Check(XGBoosterUpdateOneIter(booster, round, train));
    hook.AfterRound(booster, round, sets, names);
  }
  hook.Close();
  for (const smdebug::RuleReport& report : guard.reports()) {
    std::printf("%s: %s\n", report.name.c_str(),
                smdebug::StatusName(report.status).data());
  }
  std::printf("saved to %s\n", out_dir);
  XGBoosterFree(booster);
  XGDMatrixFree(validation);
  XGDMatrixFree(train);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: xgboost_regression OUT_DIR\n");
    return 2;
  }
  try {
    return Train(argv[1]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "xgboost_regression: %s\n", error.what());
    return 1;
  }
}
