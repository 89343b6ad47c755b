// xgboost_twin OUT_DIR CONFIG DATA PARAMETERS ROUNDS: trains on DATA as a test
// in Python does, with the adapter, and saves as CONFIG says.
//
// DATA is a CSV without a header whose first column is the label; the last
// fifth of the rows is for validation. PARAMETERS are "name=value" separated by
// commas.
#include <cstdio>
#include <exception>
#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "smdebug/xgboost.h"

namespace {

void Check(int code) {
  if (code != 0) throw std::runtime_error(XGBGetLastError());
}

// Rows of a table, as a DMatrix.
class Matrix {
 public:
  Matrix(const std::vector<std::vector<float>>& rows, size_t begin,
         size_t end) {
    std::vector<float> values;
    std::vector<float> labels;
    for (size_t i = begin; i < end; ++i) {
      labels.push_back(rows[i][0]);
      values.insert(values.end(), rows[i].begin() + 1, rows[i].end());
    }
    const size_t columns = rows[0].size() - 1;
    Check(XGDMatrixCreateFromMat(values.data(), end - begin, columns,
                                 std::numeric_limits<float>::quiet_NaN(),
                                 &handle_));
    Check(
        XGDMatrixSetFloatInfo(handle_, "label", labels.data(), labels.size()));
    std::vector<std::string> names;
    std::vector<const char*> texts;
    for (size_t i = 0; i < columns; ++i)
      names.push_back("radius" + std::to_string(i));
    for (const std::string& name : names) texts.push_back(name.c_str());
    Check(XGDMatrixSetStrFeatureInfo(handle_, "feature_name", texts.data(),
                                     texts.size()));
  }
  ~Matrix() { XGDMatrixFree(handle_); }
  Matrix(const Matrix&) = delete;
  Matrix& operator=(const Matrix&) = delete;

  DMatrixHandle get() const { return handle_; }

 private:
  DMatrixHandle handle_ = nullptr;
};

std::vector<std::vector<float>> ReadTable(const std::string& path) {
  std::vector<std::vector<float>> rows;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    std::vector<float> row;
    std::istringstream cells(line);
    for (std::string cell; std::getline(cells, cell, ',');) {
      row.push_back(std::stof(cell));
    }
    rows.push_back(row);
  }
  return rows;
}

std::map<std::string, std::string> ReadParameters(const std::string& text) {
  std::map<std::string, std::string> parameters;
  std::istringstream items(text);
  for (std::string item; std::getline(items, item, ',');) {
    const size_t equals = item.find('=');
    parameters[item.substr(0, equals)] = item.substr(equals + 1);
  }
  return parameters;
}

void Train(char** argv) {
  const auto rows = ReadTable(argv[3]);
  const size_t split = rows.size() - rows.size() / 5;
  const Matrix train(rows, 0, split);
  const Matrix validation(rows, split, rows.size());
  const auto parameters = ReadParameters(argv[4]);

  smdebug::HookConfig config =
      smdebug::LoadHookConfig(argv[2], smdebug::Framework::kXgboost);
  config.out_dir = argv[1];
  smdebug::XgboostHook hook(config, {.hyperparameters = parameters,
                                     .train = train.get(),
                                     .validation = validation.get()});
  const std::vector<DMatrixHandle> sets = {train.get(), validation.get()};
  const std::vector<const char*> names = {"train", "validation"};
  BoosterHandle booster = nullptr;
  Check(XGBoosterCreate(sets.data(), sets.size(), &booster));
  for (const auto& [name, value] : parameters) {
    Check(XGBoosterSetParam(booster, name.c_str(), value.c_str()));
  }
  for (int round = 0; round < std::stoi(argv[5]); ++round) {
    Check(XGBoosterUpdateOneIter(booster, round, train.get()));
    hook.AfterRound(booster, round, sets, names);
  }
  hook.Close();
  XGBoosterFree(booster);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 6) return 2;
  try {
    Train(argv);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
