#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>

#include "smdebug/run.h"
#include "src/hook/fail_open.h"
#include "src/hook/tally.h"
#include "src/run/run_folder.h"

namespace smdebug::hook {

// Keeps a worker's ledger, and leaves the run with it. One thread at a time but
// for NoteStep(). What is borrowed outlives the writer.
class LedgerWriter {
 public:
  LedgerWriter(run::RunFolder* folder, const Tally* tally, FailOpen* fail_open)
      : folder_(folder), tally_(tally), fail_open_(fail_open) {}

  // The highest step begun so far.
  void NoteStep(int64_t step) noexcept {
    last_step_.store(step, std::memory_order_relaxed);
  }

  // Writes the ledger, unless that was done a moment ago.
  void Update();

  // Leaves the run with the last ledger; without an `ending` for one that
  // starts over.
  void Leave(std::optional<Ending> ending, std::string_view reason);

 private:
  run::Ledger Now() const;
  // Once more, with the failure to leave in it.
  void NoteFailure(Ending ending, std::string_view reason);

  run::RunFolder* const folder_;
  const Tally* const tally_;
  FailOpen* const fail_open_;
  std::atomic<int64_t> last_step_{-1};
  // The first was written on entering.
  std::chrono::steady_clock::time_point written_ =
      std::chrono::steady_clock::now();
};

}  // namespace smdebug::hook
