#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace smdebug {

class Storage;

// How a worker's part of a job ended, and with it the job.
enum class Ending : uint8_t {
  kFinished,
  kFailed,       // An exception passed.
  kInterrupted,  // A signal ended it.
};

// "finished", "failed" or "interrupted".
std::string_view EndingName(Ending ending) noexcept;

// How far a run has come.
enum class RunState : uint8_t {
  kRunning,
  kFinished,
  kFailed,
  kInterrupted,
  kKilled,   // A process that wrote it is gone without a word.
  kUnknown,  // The run does not tell, as runs of smdebug 1.0 before their end.
};

// "running", "finished", "failed", "interrupted", "killed" or "unknown".
std::string_view RunStateName(RunState state) noexcept;

// Which run a folder holds, and how it is.
struct RunInfo {
  std::string id = {};  // Empty if it has none, as runs of smdebug 1.0.
  RunState state = RunState::kUnknown;
  std::string reason = {};  // Why it failed or who is gone; may be empty.

  // Whether nothing more will come.
  bool over() const noexcept {
    return state != RunState::kRunning && state != RunState::kUnknown;
  }

  friend bool operator==(const RunInfo&, const RunInfo&) = default;
};

// Which run `storage` holds, and how it is now. Throws IoError.
RunInfo LookAtRun(const Storage& storage);

// Whether the run has its end marker. Throws IoError.
bool HasRunEnded(const Storage& storage);

// What a hook has done so far, as its run's ledger has it.
struct HookStats {
  int64_t steps_saved = 0;   // Steps with published files.
  int64_t values_saved = 0;  // Tensors and reductions, once for each step.
  uint64_t bytes_saved = 0;  // Bytes of published event files.
  int64_t scalars_saved = 0;
  int64_t stalls = 0;  // Waits for room in the buffer.
  double stalled_seconds = 0;
  int64_t dropped = 0;  // Tensors and scalars: no room, or too late.
  int64_t skipped = 0;  // Of a kind that cannot be saved, or a shim failed.
  int64_t errors = 0;   // Failed writes.
  int64_t lost = 0;     // Tensors and scalars lost to failed writes.

  // Calls visit(name, member) for each of them, in this order.
  template <typename Visit>
  static void ForEach(Visit visit) {
    visit("steps_saved", &HookStats::steps_saved);
    visit("values_saved", &HookStats::values_saved);
    visit("bytes_saved", &HookStats::bytes_saved);
    visit("scalars_saved", &HookStats::scalars_saved);
    visit("stalls", &HookStats::stalls);
    visit("stalled_seconds", &HookStats::stalled_seconds);
    visit("dropped", &HookStats::dropped);
    visit("skipped", &HookStats::skipped);
    visit("errors", &HookStats::errors);
    visit("lost", &HookStats::lost);
  }

  HookStats& operator+=(const HookStats& other) noexcept;
  friend bool operator==(const HookStats&, const HookStats&) = default;
};

// Marks the run as finished, as a platform does for the jobs that it manages;
// nothing happens if it has ended. Throws IoError.
void MarkRunEnded(Storage& storage);

}  // namespace smdebug
