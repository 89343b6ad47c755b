#include "src/hook/writer.h"

#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>

#include <algorithm>
#include <utility>

#include "src/base/bytes.h"
#include "src/base/kill_point.h"
#include "src/base/log.h"
#include "src/index/collections_file.h"
#include "src/index/run_files.h"

namespace smdebug::hook {
namespace {

using Clock = std::chrono::steady_clock;

// How often the ledger is rewritten: at most while steps are saved, and at
// least while nothing happens, so that others see this process alive.
constexpr std::chrono::seconds kLedgerInterval{1};
constexpr std::chrono::seconds kHeartbeat{60};

// Scalars that could not be written are kept for the next file up to this many
// times the limit.
constexpr size_t kScalarBacklog = 16;

// The training goes first: its threads wait for each other, so that what holds
// up one of them holds up all. Enough is left for the writer where every core
// is busy. On Linux a thread has a nice value of its own.
constexpr int kNice = 10;

void GiveWay() { setpriority(PRIO_PROCESS, 0, kNice); }

}  // namespace

struct Writer::Session {
  Session(const HookConfig& config, Storage* tensorboard_storage)
      : plan(config::MakePlan(config)) {
    if (tensorboard_storage != nullptr) {
      tensorboard.emplace(tensorboard_storage);
    }
  }

  config::Plan plan;  // Its collections gather the names that joined them.
  bool collections_changed = true;

  StepFile::Workspace workspace;
  std::optional<StepFile> file;  // Of the step now being written.
  int64_t captured = 0;          // Tensors of that step so far.
  bool failed = false;           // That step is lost.
  int64_t last_file_step = -1;

  std::vector<CapturedScalar> scalars;  // Waiting for a file.
  Clock::time_point oldest_scalar;

  std::optional<TensorboardWriter> tensorboard;
  Clock::time_point ledger_written;
};

Writer::Writer(const HookConfig& config, Options options,
               std::shared_ptr<Storage> storage,
               std::shared_ptr<Storage> tensorboard, run::RunFolder* folder,
               Tally* tally)
    : config_(config),
      options_(std::move(options)),
      storage_(std::move(storage)),
      tensorboard_(std::move(tensorboard)),
      folder_(folder),
      tally_(tally) {}

std::vector<CapturedTensor> Writer::Submit(Batch batch) {
  {
    const base::MutexLock lock(mu_);
    StartLocked();
  }
  return queue_.Add(std::move(batch));
}

void Writer::StartLocked() {
  if (started_) return;
  // Signals are for the program's own threads. Blocked, SIGXFSZ also lets a
  // write beyond the file size limit fail instead of ending the process.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    thread_ = std::thread([this] { Run(); });
    started_ = true;
  } catch (...) {
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    throw;
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

bool Writer::Close(const Stamp& end, std::optional<Ending> ending,
                   std::string_view reason) {
  {
    const base::MutexLock lock(mu_);
    ending_ = ending;
    reason_ = reason;
    end_ = end;
    StartLocked();
  }
  queue_.End();
  if (WaitUntilFinished()) {
    thread_.join();
    return true;
  }
  tally_->AddDropped(queue_.CountWaiting(), "stuck",
                     storage_->root() +
                         ": the file system did not answer; "
                         "closed without the steps still queued");
  thread_.detach();
  return false;
}

bool Writer::WaitUntilFinished() {
  const base::MutexLock lock(mu_);
  while (!finished_) {
    const uint64_t seen = progress_.load();
    const bool done =
        has_finished_.wait_for(mu_, options_.runtime.stuck_after, [&] {
          mu_.AssertHeld();
          return finished_;
        });
    if (!done && progress_.load() == seen) return false;
  }
  return true;
}

std::exception_ptr Writer::TakeError() {
  const base::MutexLock lock(mu_);
  return std::exchange(error_, nullptr);
}

void Writer::Run() {
  GiveWay();
  std::optional<Session> session;
  try {
    session.emplace(config_, tensorboard_.get());
    while (std::optional<Batch> batch = Next(*session)) {
      Process(*session, *batch);
      queue_.Recycle(std::move(batch->tensors));
      ++progress_;
    }
    Finish(*session);
  } catch (...) {
    // What each stage does not handle itself, such as memory running out.
    Fail("writer");
    silent_ = true;
  }
  session.reset();
  queue_.Clear();
  {
    const base::MutexLock lock(mu_);
    finished_ = true;
  }
  has_finished_.notify_all();
}

std::optional<Batch> Writer::Next(Session& session) {
  std::optional<Batch> batch = queue_.Take(kHeartbeat);
  while (!batch && !queue_.HasEnded()) {
    UpdateLedger(session, /*even_if_recent=*/true);
    batch = queue_.Take(kHeartbeat);
  }
  return batch;
}

void Writer::Process(Session& session, Batch& batch) {
  if (silent()) return;
  for (Membership& added : batch.memberships) {
    const auto it = session.plan.find(added.collection);
    config::PlannedCollection& planned =
        it != session.plan.end()
            ? it->second
            : session.plan
                  .emplace(added.collection,
                           config::PlanNewCollection(config_, added.collection))
                  .first->second;
    planned.collection.tensor_names.insert(std::move(added.name));
    session.collections_changed = true;
  }
  session.captured += static_cast<int64_t>(batch.tensors.size());
  WriteTensors(session, batch);
  FeedTensorboard(session, batch);
  if (!batch.scalars.empty() && session.scalars.empty()) {
    session.oldest_scalar = Clock::now();
  }
  std::ranges::move(batch.scalars, std::back_inserter(session.scalars));
  if (batch.last_of_step) {
    FinishStep(session, batch.stamp, /*closing=*/false);
  }
}

StepFile& Writer::FileFor(Session& session, const Stamp& stamp) {
  if (!session.file) {
    session.file.emplace(
        storage_.get(),
        StepFile::Options{.worker = options_.worker,
                          .durability = options_.runtime.durability,
                          .spread = config::DefaultSpread(config_.framework),
                          .progress = &progress_},
        stamp, &session.workspace);
  }
  return *session.file;
}

void Writer::WriteTensors(Session& session, Batch& batch) {
  if (batch.tensors.empty()) return;
  for (CapturedTensor& tensor : batch.tensors) {
    if (!tensor.digest && tensor.NeedsDigest()) {
      tensor.digest = MakeDigest(tensor.View(), *tensor.form);
    }
  }
  if (session.failed) return;
  try {
    FileFor(session, batch.stamp).Append(batch.tensors);
  } catch (...) {
    session.file.reset();
    session.failed = true;
    Fail("write");
  }
}

void Writer::FinishStep(Session& session, const Stamp& stamp, bool closing) {
  const size_t limit = static_cast<size_t>(options_.runtime.scalar_limit);
  const bool has_tensors = session.file && !session.file->empty();
  const bool scalars_due =
      !session.scalars.empty() && stamp.step > session.last_file_step &&
      (closing || has_tensors || session.scalars.size() >= limit ||
       Clock::now() - session.oldest_scalar >= options_.runtime.scalar_delay);
  if (!session.failed && (has_tensors || scalars_due)) {
    try {
      PublishStep(session, stamp);
    } catch (...) {
      session.failed = true;
      Fail("write");
    }
  }
  if (session.failed) {
    tally_->AddLost(session.captured);
    if (const size_t most = limit * kScalarBacklog;
        session.scalars.size() > most) {
      const size_t excess = session.scalars.size() - most;
      tally_->AddLost(static_cast<int64_t>(excess));
      session.scalars.erase(
          session.scalars.begin(),
          session.scalars.begin() + static_cast<ptrdiff_t>(excess));
    }
  }
  session.file.reset();
  session.captured = 0;
  session.failed = false;
  FlushTensorboard(session);
  UpdateLedger(session, /*even_if_recent=*/false);
}

void Writer::PublishStep(Session& session, const Stamp& stamp) {
  StepFile& file = FileFor(session, stamp);
  file.Append(session.scalars);
  PublishCollections(session);
  file.Publish();
  ++progress_;
  const auto scalars = static_cast<int64_t>(session.scalars.size());
  tally_->AddStep(file.saved() - scalars, file.bytes(), scalars);
  session.scalars.clear();
  session.last_file_step = stamp.step;
  Tell([&](StepObserver& observer) { observer.OnStep(stamp.step); });
}

void Writer::Tell(const std::function<void(StepObserver&)>& what) {
  std::erase_if(observers_, [&](const auto& observer) {
    try {
      what(*observer);
      return false;
    } catch (...) {
      Fail("observer");
      return true;
    }
  });
}

void Writer::PublishCollections(Session& session) {
  if (!session.collections_changed) return;
  index::CollectionsFile content;
  for (const auto& [name, planned] : session.plan) {
    content.collections.emplace(name, planned.collection);
  }
  content.num_workers = options_.num_workers;
  const std::string json = ToJson(content);
  const auto file =
      storage_->Create(index::CollectionsFileKey(options_.worker),
                       {.visibility = Visibility::kOnPublish,
                        .durability = options_.runtime.durability});
  const Bytes parts[] = {base::AsBytes(json)};
  file->Append(parts);
  SMDEBUG_KILL_POINT("before_collections_publish");
  file->Publish();
  session.collections_changed = false;
}

void Writer::FeedTensorboard(Session& session, const Batch& batch) {
  if (!session.tensorboard) return;
  for (const CapturedTensor& tensor : batch.tensors) {
    session.tensorboard->Add(tensor, batch.stamp);
  }
  for (const CapturedScalar& scalar : batch.scalars) {
    session.tensorboard->Add(scalar);
  }
}

void Writer::FlushTensorboard(Session& session) {
  if (!session.tensorboard) return;
  try {
    session.tensorboard->Flush();
  } catch (...) {
    Fail("tensorboard");
    session.tensorboard.reset();  // The export ends here; the run goes on.
  }
}

void Writer::UpdateLedger(Session& session, bool even_if_recent) {
  const Clock::time_point now = Clock::now();
  if (!even_if_recent && now - session.ledger_written < kLedgerInterval) return;
  session.ledger_written = now;
  index::Ledger ledger;
  ledger.last_step = last_step_.load(std::memory_order_relaxed);
  tally_->FillIn(ledger);
  try {
    folder_->WriteLedger(std::move(ledger));
  } catch (...) {
    Fail("ledger");
  }
}

void Writer::Finish(Session& session) {
  Stamp end;
  std::optional<Ending> ending;
  std::string reason;
  {
    const base::MutexLock lock(mu_);
    end = end_;
    ending = ending_;
    reason = reason_;
  }
  if (!session.scalars.empty()) {
    // A published step is never written again, so leftovers of the last one
    // need a step number of their own.
    Stamp stamp = end;
    if (stamp.step <= session.last_file_step) {
      stamp.step = session.last_file_step + 1;
      ++stamp.mode_step;
    }
    FinishStep(session, stamp, /*closing=*/true);
    tally_->AddLost(static_cast<int64_t>(session.scalars.size()));
  }
  try {
    PublishCollections(session);
  } catch (...) {
    Fail("collections");
  }
  FlushTensorboard(session);
  index::Ledger ledger;
  ledger.last_step = last_step_.load(std::memory_order_relaxed);
  tally_->FillIn(ledger);
  Tell([](StepObserver& observer) { observer.OnEnd(); });
  try {
    if (ending) {
      folder_->Leave(std::move(ledger), *ending, reason);
    } else {
      folder_->Abandon(std::move(ledger));
    }
  } catch (...) {
    Fail("close");
  }
}

void Writer::Fail(std::string_view kind) {
  std::string what = "unknown error";
  try {
    throw;
  } catch (const std::exception& error) {
    what = error.what();
  } catch (...) {
    // Not ours; counted under the text above.
  }
  tally_->AddError(kind, what);
  const base::MutexLock lock(mu_);
  if (error_ == nullptr) error_ = std::current_exception();
}

}  // namespace smdebug::hook
