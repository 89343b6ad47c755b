#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace smdebug::testing {

// What the victim saves at each step: so many tensors of so many elements, and
// the scalar "loss", all of one value.
inline constexpr int kVictimTensors = 5;
inline constexpr int kVictimElements = 500;

// `tag` tells the starts apart that used a folder, up to some thousands.
inline float VictimValue(int64_t tag, int64_t rank, int64_t step) {
  return static_cast<float>(tag * 1000 + step) +
         static_cast<float>(rank) * 0.25F;
}

// The name of the job that victims of several workers are of.
inline std::string VictimJob(int64_t tag) {
  return "start " + std::to_string(tag);
}

// How a victim is started.
struct VictimOptions {
  int64_t tag = 0;
  int64_t rank = 0;
  int64_t workers = 1;
  bool is_all = false;  // It is all of the workers.
  int64_t steps = 10;
  bool paced = false;  // Each step is published before the next begins.
  bool fails = false;  // It closes as failed.
  // Closes only when the worker of this rank has closed.
  std::optional<int64_t> outlives = {};
  std::string kill_at = {};  // SMDEBUG_KILL_AT
};

// The process `crash_victim`. Killed at the end of the scope, if it still runs.
// One thread at a time.
class Victim {
 public:
  Victim(const std::string& out_dir, const VictimOptions& options);
  ~Victim();
  Victim(const Victim&) = delete;
  Victim& operator=(const Victim&) = delete;

  // Reads what it says until it has said `lines` lines, or ends.
  void AwaitLines(size_t lines);

  void Kill();

  // Reads the rest and waits for the end of the process, which must come. Does
  // nothing after that.
  void AwaitEnd();

  // These are known at the end.
  bool killed() const { return killed_; }
  int exit_code() const { return exit_code_; }
  // Everything that it said and logged.
  const std::string& output() const { return output_; }
  bool Said(const std::string& word) const;
  // Steps that it knew to be published.
  int64_t saved() const;

 private:
  // False at the end of its words.
  bool ReadMore();

  pid_t pid_ = 0;
  int pipe_ = -1;
  std::string output_;
  bool killed_ = false;
  int exit_code_ = -1;
};

}  // namespace smdebug::testing
