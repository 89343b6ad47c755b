#include "src/hook/writer.h"

#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>

#include <algorithm>
#include <deque>
#include <utility>

#include "src/base/bytes.h"
#include "src/base/kill_point.h"
#include "src/base/log.h"
#include "src/index/collections_file.h"
#include "src/run/keys.h"
#include "src/steps/open_sink.h"

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

// The same for their bytes, whatever the limit: a file, or what is kept.
constexpr uint64_t kScalarBytes = uint64_t{1} << 20;
constexpr uint64_t kScalarBacklogBytes = uint64_t{4} << 20;

uint64_t BytesOf(const std::vector<CapturedScalar>& scalars) {
  uint64_t bytes = 0;
  for (const CapturedScalar& scalar : scalars) bytes += HeldBytes(scalar);
  return bytes;
}

// The training goes first: its threads wait for each other, so that what holds
// up one of them holds up all. Enough is left for the writer where every core
// is busy. On Linux a thread has a nice value of its own.
constexpr int kNice = 10;

void GiveWay() { setpriority(PRIO_PROCESS, 0, kNice); }

}  // namespace

// A step that was sealed, until the sink reports it.
struct SealedStep {
  int64_t step = 0;
  int64_t captured = 0;  // Tensors.
  int64_t saved = 0;     // Tensors and reductions.
  uint64_t bytes = 0;
  std::vector<CapturedScalar> scalars;
};

struct Writer::Session {
  Session(const Options& options, Storage* tensorboard_storage) {
    collections.num_workers = options.num_workers;
    if (tensorboard_storage != nullptr) {
      tensorboard.emplace(tensorboard_storage);
    }
  }

  index::CollectionsFile collections;  // As told so far.
  bool collections_changed = true;

  steps::StepBuilder::Workspace workspace;
  std::optional<StepEncoder> encoder;  // Of the step now being written.
  int64_t captured = 0;                // Tensors of that step so far.
  bool failed = false;                 // That step is lost.
  std::deque<SealedStep> sealed;       // In the order in which they were.
  int64_t last_published = -1;

  // A step up to this one is not written again.
  int64_t last_sealed() const {
    return sealed.empty() ? last_published : sealed.back().step;
  }

  std::vector<CapturedScalar> scalars;  // Waiting for a step to be sealed.
  uint64_t scalar_bytes = 0;
  Clock::time_point oldest_scalar;

  std::optional<TensorboardWriter> tensorboard;
  Clock::time_point ledger_written = Clock::now();  // On entering.
};

Writer::Writer(Options options, std::shared_ptr<Storage> storage,
               std::shared_ptr<Storage> tensorboard, run::RunFolder* folder,
               Tally* tally)
    : options_(std::move(options)),
      storage_(std::move(storage)),
      sink_(steps::OpenSink(storage_, options_.runtime.durability)),
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
  tally_->AddDropped(queue_.CountWaiting() + in_hand_, "stuck",
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
  thread_id_ = std::this_thread::get_id();
  std::optional<Session> session;
  try {
    session.emplace(options_, tensorboard_.get());
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
    tally_->AddLost(queue_.CountWaiting());
    LetGo(session);
  }
  session.reset();
  queue_.Clear();
  {
    const base::MutexLock lock(mu_);
    finished_ = true;
  }
  has_finished_.notify_all();
}

void Writer::LetGo(std::optional<Session>& session) noexcept {
  try {
    if (session) AwaitReports(*session);
  } catch (...) {
    Fail("writer");
  }
}

std::optional<Batch> Writer::Next(Session& session) {
  while (true) {
    if (is_hurried_.exchange(false) || IsHurried()) sink_->Hurry();
    std::optional<Batch> batch = queue_.Take(kHeartbeat);
    TakeReports(session);
    if (batch || queue_.HasEnded()) return batch;
    UpdateLedger(session);
  }
}

void Writer::Process(Session& session, Batch& batch) {
  if (silent()) return;
  if (batch.collections != nullptr) {
    NoteCollections(session, *batch.collections);
  }
  session.captured += static_cast<int64_t>(batch.tensors.size());
  in_hand_ += static_cast<int64_t>(batch.tensors.size() + batch.scalars.size());
  FeedTensorboard(session, batch);
  WriteTensors(session, batch);
  if (!batch.scalars.empty() && session.scalars.empty()) {
    session.oldest_scalar = Clock::now();
  }
  session.scalar_bytes += BytesOf(batch.scalars);
  std::ranges::move(batch.scalars, std::back_inserter(session.scalars));
  if (batch.last_of_step) {
    FinishStep(session, batch.stamp, /*closing=*/false);
  }
}

void Writer::NoteCollections(Session& session,
                             const CollectionChanges& changes) {
  session.collections_changed = true;
  auto& collections = session.collections.collections;
  for (const Collection& made : changes.made) {
    collections.insert_or_assign(made.name, made);
  }
  for (const CollectionChanges::Member& member : changes.joined) {
    collections.at(member.collection).tensor_names.insert(member.name);
  }
}

StepEncoder& Writer::EncoderFor(Session& session, const Stamp& stamp) {
  if (!session.encoder) {
    session.encoder.emplace(
        steps::StepBuilder(sink_.get(), this, {options_.worker, stamp.step},
                           &session.workspace),
        stamp, options_.spread);
  }
  return *session.encoder;
}

void Writer::WriteTensors(Session& session, Batch& batch) {
  if (batch.tensors.empty() || session.failed) return;
  try {
    // Kept by the sink as long as it keeps a part.
    auto room = std::make_shared<const Reservation>(std::move(batch.room));
    EncoderFor(session, batch.stamp).Append(batch.tensors, std::move(room));
  } catch (...) {
    session.encoder.reset();
    session.failed = true;
    Fail("write");
  }
}

void Writer::FinishStep(Session& session, const Stamp& stamp, bool closing) {
  const size_t limit = static_cast<size_t>(options_.runtime.scalar_limit);
  const bool has_tensors = session.encoder && !session.encoder->empty();
  const bool scalars_due =
      !session.scalars.empty() && stamp.step > session.last_sealed() &&
      (closing || has_tensors || session.scalars.size() >= limit ||
       session.scalar_bytes >= kScalarBytes ||
       Clock::now() - session.oldest_scalar >= options_.runtime.scalar_delay);
  if (!session.failed && (has_tensors || scalars_due)) {
    try {
      SealStep(session, stamp);
    } catch (...) {
      session.failed = true;
      Fail("write");
    }
  }
  if (session.failed) {
    tally_->AddLost(session.captured);
    LimitScalars(session);
  }
  session.encoder.reset();
  in_hand_ -= std::exchange(session.captured, 0);
  session.failed = false;
  TakeReports(session);
  FlushTensorboard(session);
  UpdateLedger(session);
}

void Writer::SealStep(Session& session, const Stamp& stamp) {
  StepEncoder& encoder = EncoderFor(session, stamp);
  encoder.Append(session.scalars);
  PublishCollections(session);
  const auto scalars = static_cast<int64_t>(session.scalars.size());
  session.sealed.push_back({.step = stamp.step,
                            .captured = std::exchange(session.captured, 0),
                            .saved = encoder.saved() - scalars,
                            .bytes = encoder.bytes(),
                            .scalars = std::exchange(session.scalars, {})});
  session.scalar_bytes = 0;
  {
    const base::MutexLock lock(mu_);
    reports_.reserve(session.sealed.size());
  }
  try {
    encoder.Seal();
  } catch (...) {
    // It never came to the sink, and is lost as others are.
    const steps::StepReport report = {.key = {options_.worker, stamp.step},
                                      .error = std::current_exception()};
    OnReports({&report, 1});
  }
}

void Writer::OnReports(std::span<const steps::StepReport> reports) noexcept {
  ++progress_;
  // With the last report the writer may be destroyed, so that nothing of it is
  // touched once the lock is let go.
  const base::MutexLock lock(mu_);
  for (const steps::StepReport& report : reports) {
    reports_.push_back(report.error);  // There is room.
  }
  has_report_ = true;
  has_reports_.notify_all();
  // The thread itself looks as soon as the step is finished.
  if (std::this_thread::get_id() != thread_id_.load()) queue_.Wake();
}

void Writer::TakeReports(Session& session) {
  if (!has_report_.exchange(false)) return;
  std::vector<std::exception_ptr> reports;
  {
    const base::MutexLock lock(mu_);
    reports.swap(reports_);
    reports_.reserve(session.sealed.size());
  }
  std::exception_ptr counted;  // Steps that are lost together share an error.
  for (const std::exception_ptr& error : reports) {
    SealedStep step = std::move(session.sealed.front());
    session.sealed.pop_front();
    in_hand_ -= step.captured;
    if (error != nullptr) {
      if (error != counted) Fail("write", error);
      counted = error;
      tally_->AddLost(step.captured);
      session.scalars.insert(session.scalars.begin(),
                             std::make_move_iterator(step.scalars.begin()),
                             std::make_move_iterator(step.scalars.end()));
      LimitScalars(session);
      continue;
    }
    const auto scalars = static_cast<int64_t>(step.scalars.size());
    in_hand_ -= scalars;
    tally_->AddStep(step.saved, step.bytes, scalars);
    session.last_published = step.step;
    Tell([&](StepObserver& observer) { observer.OnStep(step.step); });
  }
}

void Writer::AwaitReports(Session& session) {
  while (!session.sealed.empty()) {
    sink_->Hurry();
    {
      const base::MutexLock lock(mu_);
      has_reports_.wait(mu_, [&] {
        mu_.AssertHeld();
        return !reports_.empty();
      });
    }
    TakeReports(session);
  }
}

void Writer::LimitScalars(Session& session) {
  const size_t most =
      static_cast<size_t>(options_.runtime.scalar_limit) * kScalarBacklog;
  std::vector<CapturedScalar>& scalars = session.scalars;
  uint64_t bytes = BytesOf(scalars);
  size_t excess = 0;
  while (excess < scalars.size() &&
         (scalars.size() - excess > most || bytes > kScalarBacklogBytes)) {
    bytes -= HeldBytes(scalars[excess++]);
  }
  tally_->AddLost(static_cast<int64_t>(excess));
  in_hand_ -= static_cast<int64_t>(excess);
  scalars.erase(scalars.begin(),
                scalars.begin() + static_cast<ptrdiff_t>(excess));
  session.scalar_bytes = bytes;
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
  const std::string json = ToJson(session.collections);
  const auto file =
      storage_->Create(run::CollectionsFileKey(options_.worker),
                       {.visibility = Visibility::kOnPublish,
                        .durability = options_.runtime.durability});
  const Bytes parts[] = {base::AsBytes(json)};
  file->Append(parts);
  SMDEBUG_KILL_POINT("before_collections_publish");
  file->Publish();
  session.collections_changed = false;
}

void Writer::FeedTensorboard(Session& session, Batch& batch) {
  for (CapturedTensor& tensor : batch.tensors) {
    if (!tensor.digest && tensor.NeedsDigest()) {
      tensor.digest = MakeDigest(tensor.View(), *tensor.form);
    }
    if (session.tensorboard) session.tensorboard->Add(tensor, batch.stamp);
    // Nobody else needs it, and it may be large.
    if (tensor.digest) tensor.digest->histogram.reset();
  }
  if (!session.tensorboard) return;
  for (const CapturedScalar& scalar : batch.scalars) {
    session.tensorboard->Add(scalar);
  }
  if (session.tensorboard->IsMuch()) FlushTensorboard(session);
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

void Writer::CloseTensorboard(Session& session) {
  if (!session.tensorboard) return;
  try {
    session.tensorboard->Publish();
  } catch (...) {
    Fail("tensorboard");
  }
  session.tensorboard.reset();
}

void Writer::UpdateLedger(Session& session) {
  const Clock::time_point now = Clock::now();
  if (now - session.ledger_written < kLedgerInterval) return;
  session.ledger_written = now;
  run::Ledger ledger;
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
  AwaitReports(session);
  if (!session.scalars.empty()) {
    // A published step is never written again, so leftovers of the last one
    // need a step number of their own.
    Stamp stamp = end;
    if (stamp.step <= session.last_sealed()) {
      stamp.step = session.last_sealed() + 1;
      ++stamp.mode_step;
    }
    FinishStep(session, stamp, /*closing=*/true);
    AwaitReports(session);
    tally_->AddLost(static_cast<int64_t>(session.scalars.size()));
  }
  try {
    PublishCollections(session);
  } catch (...) {
    Fail("collections");
  }
  CloseTensorboard(session);
  run::Ledger ledger;
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

void Writer::Fail(std::string_view kind, const std::exception_ptr& error) {
  std::string what = "unknown error";
  try {
    std::rethrow_exception(error);
  } catch (const std::exception& known) {
    what = known.what();
  } catch (...) {
    // Not ours; counted under the text above.
  }
  tally_->AddError(kind, what);
  const base::MutexLock lock(mu_);
  if (error_ == nullptr) error_ = error;
}

}  // namespace smdebug::hook
