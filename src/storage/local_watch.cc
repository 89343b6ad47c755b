#include "src/storage/local_watch.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>
#include <utility>

#include "src/base/clock.h"
#include "src/base/environment.h"
#include "src/base/fork.h"
#include "src/base/mutex.h"
#include "src/storage/folder_watches.h"
#include "src/storage/posix_file.h"
#include "src/storage/watched_folders.h"

namespace smdebug::storage {
namespace {

using std::chrono::milliseconds;
using TimePoint = std::chrono::steady_clock::time_point;

// How long a caller waits that has to poll.
constexpr milliseconds kPollInterval{200};

// Whoever comes takes in the events, for all. That leaves nothing to poll for
// to the threads that wait, so `bell_` wakes them; the last one to go silences
// it.
class LocalWatch final : public ChangeWatch {
 public:
  LocalWatch(std::unique_ptr<FolderWatches> watches, base::Fd bell)
      : fd_(watches->fd()),
        bell_(std::move(bell)),
        watches_(std::move(watches)) {}

  uint64_t Changes() override {
    if (IsForkedCopy()) return ++child_looks_;
    const base::MutexLock lock(mu_);
    TakeIn();
    if (lost_sight_) ++seen_;
    return seen_;
  }

  bool Wait(uint64_t known, milliseconds timeout) override {
    if (IsForkedCopy()) return WaitToPoll(timeout);
    const TimePoint deadline = base::DeadlineAfter(timeout);
    const Waiting waiting(this);
    while (true) {
      {
        const base::MutexLock lock(mu_);
        TakeIn();
        if (lost_sight_) break;
        if (seen_ != known) return true;
      }
      if (std::chrono::steady_clock::now() >= deadline) return false;
      SleepUntilEvent(deadline);
    }
    return WaitToPoll(timeout);
  }

 private:
  // A thread that waits, counted while it does. One thread at a time.
  class Waiting {
   public:
    explicit Waiting(LocalWatch* watch) : watch_(watch) {
      const base::MutexLock lock(watch_->mu_);
      ++watch_->waiting_;
    }
    ~Waiting() {
      const base::MutexLock lock(watch_->mu_);
      if (--watch_->waiting_ == 0) watch_->SilenceBell();
    }
    Waiting(const Waiting&) = delete;
    Waiting& operator=(const Waiting&) = delete;

   private:
    LocalWatch* const watch_;
  };

  bool IsForkedCopy() const noexcept {
    return base::ForkGeneration() != generation_;
  }

  static bool WaitToPoll(milliseconds timeout) {
    std::this_thread::sleep_for(std::min(timeout, kPollInterval));
    return true;
  }

  void TakeIn() SMDEBUG_REQUIRES(mu_) {
    if (lost_sight_) return;
    const FolderWatches::News news = watches_->TakeIn();
    if (news == FolderWatches::News::kNothing) return;
    lost_sight_ = news == FolderWatches::News::kLostSight;
    ++seen_;
    if (waiting_ > 0) eventfd_write(bell_.get(), 1);
  }

  // Returns early for a signal.
  void SleepUntilEvent(TimePoint deadline) const {
    const auto left = std::chrono::ceil<milliseconds>(
        deadline - std::chrono::steady_clock::now());
    std::array<pollfd, 2> sources = {pollfd{fd_, POLLIN, 0},
                                     pollfd{bell_.get(), POLLIN, 0}};
    poll(sources.data(), sources.size(),
         static_cast<int>(std::clamp<int64_t>(left.count(), 0, INT32_MAX)));
  }

  void SilenceBell() const {
    eventfd_t rung = 0;
    eventfd_read(bell_.get(), &rung);
  }

  const uint64_t generation_ = base::ForkGeneration();
  // In a forked child, whose parent may have held mu_: far from seen_.
  std::atomic<uint64_t> child_looks_ = uint64_t{1} << 63;
  const int fd_;
  const base::Fd bell_;
  base::Mutex mu_;
  const std::unique_ptr<FolderWatches> watches_ SMDEBUG_GUARDED_BY(mu_);
  uint64_t seen_ SMDEBUG_GUARDED_BY(mu_) = 1;
  uint64_t waiting_ SMDEBUG_GUARDED_BY(mu_) = 0;
  bool lost_sight_ SMDEBUG_GUARDED_BY(mu_) = false;
};

}  // namespace

std::unique_ptr<ChangeWatch> WatchLocalFiles(
    const std::string& root, std::span<const std::string_view> folders) {
  WatchedFolders watched(folders);
  if (base::GetEnv("SMDEBUG_WATCH") == "poll") return nullptr;
  base::Fd bell(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!bell.valid()) return nullptr;
  auto watches = FolderWatches::Make(root, std::move(watched));
  if (watches == nullptr) return nullptr;
  return std::make_unique<LocalWatch>(std::move(watches), std::move(bell));
}

}  // namespace smdebug::storage
