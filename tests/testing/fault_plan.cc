#include <algorithm>
#include <cerrno>
#include <mutex>

#include "smdebug/error.h"
#include "tests/testing/fault_storage.h"

namespace smdebug::testing {
namespace {

std::string_view OperationName(Operation operation) {
  constexpr std::array<std::string_view, kOperations> kNames = {
      "create", "create", "write",  "flush", "publish", "read",
      "stat",   "list",   "remove", "move",  "replace"};
  return kNames[static_cast<size_t>(operation)];
}

bool NeedsSpace(Operation operation) {
  return operation == Operation::kCreate ||
         operation == Operation::kCreateExclusive ||
         operation == Operation::kAppend || operation == Operation::kFlush ||
         operation == Operation::kReplace;
}

}  // namespace

void FaultPlan::FailNth(Operation operation, uint64_t nth, int code) {
  const base::MutexLock lock(mu_);
  Rule& changed = rule(operation);
  changed.fail_at[changed.count + nth] = code;
}

void FaultPlan::FailAll(Operation operation, int code) {
  const base::MutexLock lock(mu_);
  rule(operation).fail_all = code;
}

void FaultPlan::FillDiskAfter(uint64_t bytes) {
  const base::MutexLock lock(mu_);
  space_ = bytes;
  disk_full_ = false;
}

void FaultPlan::Block(Operation operation) {
  const base::MutexLock lock(mu_);
  rule(operation).blocked = true;
}

void FaultPlan::Unblock(Operation operation) {
  const base::MutexLock lock(mu_);
  rule(operation).blocked = false;
  changed_.notify_all();
}

void FaultPlan::WaitUntilBlocked(Operation operation)
    SMDEBUG_NO_THREAD_SAFETY_ANALYSIS {
  std::unique_lock lock(mu_);
  changed_.wait(lock, [&]() SMDEBUG_NO_THREAD_SAFETY_ANALYSIS {
    return rule(operation).waiting > 0;
  });
}

void FaultPlan::Clear() {
  const base::MutexLock lock(mu_);
  for (Rule& cleared : rules_) {
    cleared.fail_at.clear();
    cleared.fail_all = 0;
    cleared.blocked = false;
  }
  space_ = UINT64_MAX;
  disk_full_ = false;
  changed_.notify_all();
}

uint64_t FaultPlan::count(Operation operation) const {
  const base::MutexLock lock(mu_);
  return rules_[static_cast<size_t>(operation)].count;
}

uint64_t FaultPlan::failures() const {
  const base::MutexLock lock(mu_);
  return failures_;
}

void FaultPlan::Enter(Operation operation, const std::string& path)
    SMDEBUG_NO_THREAD_SAFETY_ANALYSIS {
  std::unique_lock lock(mu_);
  Rule& entered = rule(operation);
  // Decided on arrival, so that the order of arrival numbers the operations.
  ++entered.count;
  const int code = FailureOf(operation);
  if (entered.blocked) {
    ++entered.waiting;
    changed_.notify_all();
    changed_.wait(lock, [&] { return !entered.blocked; });
    --entered.waiting;
  }
  if (code == 0) return;
  ++failures_;
  throw IoError(OperationName(operation), path, code);
}

int FaultPlan::FailureOf(Operation operation) {
  const Rule& asked = rule(operation);
  const auto nth = asked.fail_at.find(asked.count);
  if (nth != asked.fail_at.end()) return nth->second;
  if (asked.fail_all != 0) return asked.fail_all;
  return disk_full_ && NeedsSpace(operation) ? ENOSPC : 0;
}

uint64_t FaultPlan::TakeSpace(uint64_t bytes) {
  const base::MutexLock lock(mu_);
  const uint64_t taken = std::min(bytes, space_);
  if (space_ != UINT64_MAX) space_ -= taken;
  if (taken < bytes) {
    disk_full_ = true;
    ++failures_;
  }
  return taken;
}

void FaultPlan::GiveSpace(uint64_t bytes) {
  const base::MutexLock lock(mu_);
  if (space_ == UINT64_MAX || bytes == 0) return;
  space_ += bytes;
  disk_full_ = false;
}

}  // namespace smdebug::testing
