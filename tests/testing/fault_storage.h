#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "smdebug/storage.h"
#include "src/base/mutex.h"
#include "tests/testing/wrapped_storage.h"

namespace smdebug::testing {

// When operations fail, wait, or pass; shared by a FaultStorage and its pending
// files. Numbers of operations count from 1. Thread-safe.
class FaultPlan {
 public:
  // The `nth` operation of this kind from now on fails with the errno value
  // `code`, without reaching the store.
  void FailNth(Operation operation, uint64_t nth, int code);

  // Every one fails.
  void FailAll(Operation operation, int code);

  // A disk that has room for `bytes` more. The append that crosses the limit
  // writes what fits and fails with ENOSPC; so does, from then on, every
  // create, append and flush. The rest goes on, as on a full disk.
  void FillDiskAfter(uint64_t bytes);

  // Every operation of this kind waits until Unblock().
  void Block(Operation operation);
  void Unblock(Operation operation);

  // Returns when at least one operation of this kind waits.
  void WaitUntilBlocked(Operation operation);

  // Forgets all faults and lets everything pass. Counts stay.
  void Clear();

  // Operations asked for so far, failed ones included.
  uint64_t count(Operation operation) const;

  // Operations that this plan made fail.
  uint64_t failures() const;

  // For the storage: takes part in the plan before operation `operation` on
  // `path`. Throws IoError if it is to fail.
  void Enter(Operation operation, const std::string& path);

  // For the storage: how many of `bytes` still fit on the disk; takes them.
  uint64_t TakeSpace(uint64_t bytes);
  // For the storage: a file of so many bytes is gone before it was published.
  void GiveSpace(uint64_t bytes);

 private:
  struct Rule {
    uint64_t count = 0;
    std::map<uint64_t, int> fail_at;  // By number of the operation.
    int fail_all = 0;                 // An errno value, or 0.
    bool blocked = false;
    uint64_t waiting = 0;
  };

  Rule& rule(Operation operation) SMDEBUG_REQUIRES(mu_) {
    return rules_[static_cast<size_t>(operation)];
  }
  int FailureOf(Operation operation) SMDEBUG_REQUIRES(mu_);

  mutable base::Mutex mu_;
  base::CondVar changed_;
  std::array<Rule, kOperations> rules_ SMDEBUG_GUARDED_BY(mu_);
  uint64_t space_ SMDEBUG_GUARDED_BY(mu_) = UINT64_MAX;
  bool disk_full_ SMDEBUG_GUARDED_BY(mu_) = false;
  uint64_t failures_ SMDEBUG_GUARDED_BY(mu_) = 0;
};

// A storage that fails on demand; without a plan it is its inner storage. For
// tests. Thread-safe, and to be destroyed with no operation blocked.
class FaultStorage final : public WrappedStorage {
 public:
  using WrappedStorage::WrappedStorage;

  FaultPlan& plan() noexcept { return *plan_; }

  using WrappedStorage::Create;
  std::unique_ptr<PendingFile> Create(std::string_view key,
                                      CreateOptions options) override;

 private:
  void Before(Operation operation, std::string_view key) const override;

  const std::shared_ptr<FaultPlan> plan_ = std::make_shared<FaultPlan>();
};

}  // namespace smdebug::testing
