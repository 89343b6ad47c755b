#include "src/storage/memory_watch.h"

#include <cstdint>
#include <utility>

#include "src/base/clock.h"

namespace smdebug::storage {

// What one watch has seen. Shared by the watch and the feed. Thread-safe.
class MemoryChanges {
 public:
  explicit MemoryChanges(WatchedFolders folders)
      : folders_(std::move(folders)) {}

  void Report(std::string_view key) {
    if (!folders_.Covers(key)) return;
    const base::MutexLock lock(mu_);
    ++seen_;
    more_.notify_all();
  }

  uint64_t Count() {
    const base::MutexLock lock(mu_);
    return seen_;
  }

  bool Wait(uint64_t known, std::chrono::milliseconds timeout) {
    const base::MutexLock lock(mu_);
    return more_.wait_until(mu_, base::DeadlineAfter(timeout), [&] {
      mu_.AssertHeld();
      return seen_ != known;
    });
  }

 private:
  const WatchedFolders folders_;
  base::Mutex mu_;
  base::CondVar more_;
  uint64_t seen_ SMDEBUG_GUARDED_BY(mu_) = 1;
};

namespace {

class MemoryWatch final : public ChangeWatch {
 public:
  explicit MemoryWatch(std::shared_ptr<MemoryChanges> changes)
      : changes_(std::move(changes)) {}

  uint64_t Changes() override { return changes_->Count(); }

  bool Wait(uint64_t known, std::chrono::milliseconds timeout) override {
    return changes_->Wait(known, timeout);
  }

 private:
  const std::shared_ptr<MemoryChanges> changes_;
};

}  // namespace

void ChangeFeed::Report(std::string_view key) {
  std::vector<std::weak_ptr<MemoryChanges>> told;
  {
    const base::MutexLock lock(mu_);
    told = watched_;
  }
  for (const auto& watched : told) {
    if (const auto changes = watched.lock()) changes->Report(key);
  }
}

std::unique_ptr<ChangeWatch> ChangeFeed::Watch(WatchedFolders folders) {
  auto changes = std::make_shared<MemoryChanges>(std::move(folders));
  const base::MutexLock lock(mu_);
  std::erase_if(watched_,
                [](const auto& watched) { return watched.expired(); });
  watched_.push_back(changes);
  return std::make_unique<MemoryWatch>(std::move(changes));
}

}  // namespace smdebug::storage
