#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "smdebug/hook.h"
#include "src/base/mutex.h"
#include "src/run/ledger.h"

namespace smdebug::hook {

// Counts what a hook did and what went wrong, for stats() and the ledger. Each
// kind of trouble is logged the first time, and only then. Thread-safe.
class Tally {
 public:
  void AddStep(int64_t tensors, uint64_t bytes, int64_t scalars)
      SMDEBUG_EXCLUDES(mu_);
  void AddStall(std::chrono::nanoseconds waited) SMDEBUG_EXCLUDES(mu_);

  // `count` tensors or scalars that had no room, or came too late.
  void AddDropped(int64_t count, std::string_view kind,
                  std::string_view message) SMDEBUG_EXCLUDES(mu_);
  // A tensor of a kind that cannot be saved.
  void AddSkipped(std::string_view kind, std::string_view message)
      SMDEBUG_EXCLUDES(mu_);
  // The same for `name`, left out for `reason`. Each reason is a kind of
  // trouble of its own, up to a few for each name.
  void AddLeftOut(std::string_view name, std::string_view reason)
      SMDEBUG_EXCLUDES(mu_);
  // A failed write.
  void AddError(std::string_view kind, std::string_view message)
      SMDEBUG_EXCLUDES(mu_);
  // `count` tensors or scalars that went with failed writes.
  void AddLost(int64_t count) SMDEBUG_EXCLUDES(mu_);

  HookStats stats() const SMDEBUG_EXCLUDES(mu_);

  // Sets the counters and messages of `ledger`.
  void FillIn(run::Ledger& ledger) const SMDEBUG_EXCLUDES(mu_);

 private:
  void Note(std::string_view kind, std::string_view message) noexcept
      SMDEBUG_EXCLUDES(mu_);

  mutable base::Mutex mu_;
  HookStats stats_ SMDEBUG_GUARDED_BY(mu_);
  std::map<std::string, std::string, std::less<>> messages_
      SMDEBUG_GUARDED_BY(mu_);
};

}  // namespace smdebug::hook
