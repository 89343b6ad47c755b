#pragma once

#include <cstdint>
#include <optional>

#include "smdebug/storage.h"
#include "src/base/fd.h"
#include "src/base/process.h"

namespace smdebug::run {

// A process that is going to enter a folder, and has not yet: others on this
// machine see that, so that of two jobs the second learns it before it trains.
// Nothing is written.
//
// Of one job the first process alone is seen. A forked child does not keep the
// sign up. One thread at a time.
class Entering {
 public:
  explicit Entering(const Storage& storage);
  ~Entering();
  Entering(const Entering&) = delete;
  Entering& operator=(const Entering&) = delete;

  // The living process of another job that was faster; 0 if there is none.
  int64_t other() const noexcept { return other_; }

 private:
  const uint64_t fork_generation_;
  base::Fd sign_;  // Not valid if another process has it.
  int64_t other_ = 0;
};

// A process that is going to enter the folder of `storage`, as readers on this
// machine see it. To be asked until one is found: each time that one is leaves
// a connection that the process never takes.
std::optional<base::ProcessId> FindEntering(const Storage& storage);

// Whether it still is. False if this process may not look.
bool IsEntering(const Storage& storage, const base::ProcessId& process);

}  // namespace smdebug::run
