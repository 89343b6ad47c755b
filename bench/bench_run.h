#pragma once

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "smdebug/hook.h"

// Runs that the benchmarks write and read.
namespace smdebug::bench {

inline constexpr size_t kKiB = size_t{1} << 10;
inline constexpr size_t kMiB = size_t{1} << 20;

// Where runs go: SMDEBUG_BENCH_DIR, else the temporary folder.
inline std::filesystem::path BenchDir() {
  const char* base = std::getenv("SMDEBUG_BENCH_DIR");
  return base != nullptr ? std::filesystem::path(base)
                         : std::filesystem::temp_directory_path();
}

// A folder for one run, empty at first and removed at the end.
class RunDir {
 public:
  RunDir() : path_(BenchDir() / ("smdebug_bench_" + std::to_string(getpid()))) {
    std::filesystem::remove_all(path_);
  }
  ~RunDir() { std::filesystem::remove_all(path_); }
  RunDir(const RunDir&) = delete;
  RunDir& operator=(const RunDir&) = delete;

  std::string string() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

// Saves every tensor every `interval` steps.
inline HookConfig ConfigFor(const std::string& out_dir, int64_t interval) {
  HookConfig config;
  config.out_dir = out_dir;
  config.save_all = true;
  config.save_config = SaveConfig::Every({.save_interval = interval});
  return config;
}

// The tensors of one step, distinct in memory as those of a model are.
class Model {
 public:
  Model(size_t count, size_t bytes)
      : values_(count, std::vector<float>(bytes / sizeof(float), 1.5f)),
        shape_(static_cast<int64_t>(bytes / sizeof(float))) {
    for (size_t i = 0; i < count; ++i) {
      names_.push_back("layer" + std::to_string(i) + ".weight");
    }
  }

  int64_t count() const { return static_cast<int64_t>(names_.size()); }
  const std::vector<std::vector<float>>& values() const { return values_; }

  // One step, begun and filled but not ended.
  void Step(Hook& hook) const {
    hook.BeginStep();
    for (size_t i = 0; i < names_.size(); ++i) {
      hook.Save(names_[i], ViewOf<float>(values_[i], {&shape_, 1}));
    }
  }

 private:
  std::vector<std::string> names_;
  std::vector<std::vector<float>> values_;
  int64_t shape_;
};

// The folder of a finished run of `steps` steps with `tensors` tensors each,
// made if it is not there. Its name is known to reference_bench.py.
inline std::string MakeRun(const std::string& name, int steps, size_t tensors,
                           size_t bytes) {
  const std::filesystem::path folder = BenchDir() / "runs" / name;
  if (std::filesystem::exists(folder / "training_job_end.ts")) return folder;
  std::filesystem::remove_all(folder);
  const Model model(tensors, bytes);
  Hook hook(ConfigFor(folder, 1));
  for (int step = 0; step < steps; ++step) model.Step(hook);
  hook.Close();
  return folder;
}

}  // namespace smdebug::bench
