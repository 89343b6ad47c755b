#include "src/hook/writer.h"

#include <sys/resource.h>

#include <algorithm>

#include "src/base/blocked_signals.h"

namespace smdebug::hook {
namespace {

// The training goes first: its threads wait for each other, so that what holds
// up one of them holds up all. Enough is left for the writer where every core
// is busy. On Linux a thread has a nice value of its own.
constexpr int kNice = 10;

// More would not fit into a time of the clock.
constexpr std::chrono::milliseconds kForEver = std::chrono::years(100);

void GiveWay() { setpriority(PRIO_PROCESS, 0, kNice); }

}  // namespace

Writer::Writer(const WriterOptions& options, std::shared_ptr<Storage> storage,
               std::shared_ptr<Storage> tensorboard, run::RunFolder* folder,
               Tally* tally, FailOpen* fail_open)
    : stuck_after_(options.runtime.stuck_after),
      heartbeat_(options.runtime.heartbeat),
      storage_(std::move(storage)),
      tally_(tally),
      fail_open_(fail_open),
      steps_(options, storage_, std::move(tensorboard), folder, &queue_, tally,
             fail_open) {}

std::vector<CapturedTensor> Writer::Submit(Batch batch) {
  {
    const base::MutexLock lock(mu_);
    StartLocked();
  }
  return queue_.Add(std::move(batch));
}

void Writer::ShowLife() {
  {
    const base::MutexLock lock(mu_);
    if (started_) return;  // The thread does it.
    StartLocked();
  }
  queue_.Wake();
}

void Writer::StartLocked() {
  if (started_) return;
  // Signals are for the program's own threads. Blocked, SIGXFSZ also lets a
  // write beyond the file size limit fail instead of ending the process.
  const base::BlockedSignals blocked;
  thread_ = std::thread([this] { Run(); });
  thread_id_ = thread_.get_id();
  started_ = true;
}

bool Writer::Close(const Stamp& end, std::optional<Ending> ending,
                   std::string_view reason) {
  {
    const base::MutexLock lock(mu_);
    end_ = {.stamp = end, .ending = ending, .reason = std::string(reason)};
    StartLocked();
  }
  queue_.End();
  if (WaitUntilFinished()) {
    thread_.join();
    return true;
  }
  tally_->AddDropped(queue_.CountWaiting() + steps_.in_hand(), "stuck",
                     storage_->root() +
                         ": the file system did not answer; "
                         "closed without the steps still queued");
  thread_.detach();
  return false;
}

uint64_t Writer::RequestFlush(const Stamp& ended) {
  const base::MutexLock lock(mu_);
  // An observer would wait for itself.
  if (std::this_thread::get_id() == thread_id_) return kNoFlush;
  if (started_ && !finished_) queue_.AddFlush(ended, ++last_flush_);
  return last_flush_;
}

bool Writer::AwaitFlush(uint64_t flush,
                        std::optional<std::chrono::milliseconds> timeout) {
  if (flush == kNoFlush) return false;
  const base::MutexLock lock(mu_);
  if (!started_) return true;
  const auto is_over = [&] {
    mu_.AssertHeld();
    return finished_ || flushed_ >= flush;
  };
  if (!WaitUntilLocked(is_over, timeout)) return false;
  return finished_ ? !silent() : is_all_out_;
}

template <typename IsOver>
bool Writer::WaitUntilLocked(const IsOver& is_over,
                             std::optional<std::chrono::milliseconds> timeout) {
  using Clock = std::chrono::steady_clock;
  using std::chrono::milliseconds;
  const Clock::duration most =
      std::clamp(timeout.value_or(kForEver), milliseconds(0), kForEver);
  const Clock::time_point begin = Clock::now();
  while (!is_over()) {
    const uint64_t seen = progress().load();
    const Clock::duration waited = Clock::now() - begin;
    if (waited >= most) return false;
    const auto patience =
        std::min<Clock::duration>(stuck_after_, most - waited);
    const bool is_patient = patience == stuck_after_;
    const bool done = has_moved_.wait_for(mu_, patience, is_over);
    if (!done && is_patient && progress().load() == seen) return false;
  }
  return true;
}

bool Writer::WaitUntilFinished() {
  const base::MutexLock lock(mu_);
  const auto is_over = [&] {
    mu_.AssertHeld();
    return finished_;
  };
  return WaitUntilLocked(is_over, std::nullopt);
}

void Writer::Flushed(uint64_t flush, bool is_all_out) {
  {
    const base::MutexLock lock(mu_);
    flushed_ = flush;
    is_all_out_ = is_all_out;
  }
  has_moved_.notify_all();
}

void Writer::Run() {
  GiveWay();
  steps_.Begin();
  try {
    while (std::optional<Batch> batch = Next()) {
      if (batch->flush != 0) {
        Flushed(batch->flush, steps_.Flush(batch->stamp));
        continue;
      }
      steps_.Write(*batch);
      queue_.Recycle(std::move(batch->tensors));
    }
    End end;
    {
      const base::MutexLock lock(mu_);
      end = end_;
    }
    steps_.Finish(end.stamp, end.ending, end.reason);
  } catch (...) {
    // What each stage does not handle itself, such as memory running out.
    fail_open_->Keep("writer");
    silent_ = true;
    tally_->AddLost(queue_.CountWaiting());
    steps_.GiveUp();
  }
  steps_.Free();
  queue_.Clear();
  {
    const base::MutexLock lock(mu_);
    finished_ = true;
  }
  has_moved_.notify_all();
}

std::optional<Batch> Writer::Next() {
  while (true) {
    if (is_hurried_.exchange(false) || IsHurried()) steps_.Hurry();
    std::optional<Batch> batch = queue_.Take(heartbeat_);
    steps_.TakeReports();
    if (batch || queue_.HasEnded()) return batch;
    steps_.KeepLedger();
  }
}

}  // namespace smdebug::hook
