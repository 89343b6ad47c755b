#include "src/trial/reader.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "smdebug/error.h"
#include "src/run/doorkeeper.h"
#include "src/run/keys.h"
#include "src/run/ledger.h"
#include "src/run/survey.h"

namespace smdebug::trial {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

// Who writes shows itself every minute.
constexpr std::chrono::minutes kSilence{5};

StepRange RangeOf(const TrialOptions& options) {
  StepRange range;
  const auto refuse = [&](std::string_view allowed) {
    const auto side = [](std::optional<int64_t> step) {
      return step ? std::to_string(*step) : "none";
    };
    throw ConfigError("range_steps",
                      fmt::format("({}, {})", side(options.begin_step),
                                  side(options.end_step)),
                      allowed);
  };
  range.begin = options.begin_step.value_or(range.begin);
  range.end = options.end_step.value_or(range.end);
  if (range.begin < 0 || range.end < 0) refuse("steps of 0 or more");
  if (range.begin >= range.end) refuse("a begin below the end");
  return range;
}

std::string NameOfPath(std::string_view path) {
  path = path.substr(0, path.find_last_not_of('/') + 1);
  return std::string(path.substr(path.find_last_of('/') + 1));
}

std::unique_ptr<ChangeWatch> WatchSteps(const Storage& storage,
                                        const steps::StepSource& source) {
  // What a reader looks at, besides the files right below the root.
  std::vector<std::string_view> folders = source.folders();
  folders.push_back(run::FolderOf(run::kCollectionsPrefix));
  return storage.Watch(folders);
}

}  // namespace

Reader::Reader(std::shared_ptr<Storage> storage, TrialOptions options)
    : options_(std::move(options)),
      storage_(std::move(storage)),
      source_(steps::OpenStepSource(storage_.get())),
      watch_(WatchSteps(*storage_, *source_)),
      known_(std::make_shared<const Snapshot>(Snapshot{
          .scanner =
              Scanner(source_.get(), {.range = RangeOf(options_),
                                      .window = options_.incomplete_window,
                                      .only_worker = options_.only_worker,
                                      .recent_steps = options_.recent_steps,
                                      .run = storage_->root()}),
          .collections = std::make_shared<CollectionFiles>()})),
      end_delay_(options_.end_delay) {
  if (options_.name.empty()) options_.name = NameOfPath(storage_->root());
  if (options_.wait_for_run) AwaitRun();
  if (!options_.wait_for_run && !run::HoldsRun(*storage_)) {
    throw FormatError(storage_->root(), run::WhyNoRun(*storage_));
  }
  opened_ = run::IdentityOf(*storage_);
  if (!HasRunEnded(*storage_)) AskWriters();
  Snapshot draft = Known()->Draft();
  ReadCollections(draft);
  draft.scanner.Scan();
  CheckIdentity();
  // Whether the job has ended is for the first query to see: `change` stays 0.
  Commit(std::move(draft));
}

void Reader::ReadCollections(Snapshot& draft) const {
  auto fresh = draft.collections->ReadAgain(*storage_);
  if (fresh == nullptr) return;
  draft.collections = std::move(fresh);
  draft.scanner.SetWorkers(draft.collections->workers(),
                           draft.collections->num_workers());
}

SnapshotPtr Reader::Known() const {
  const base::MutexLock lock(mu_);
  return known_;
}

SnapshotPtr Reader::Commit(Snapshot draft) {
  auto next = std::make_shared<const Snapshot>(std::move(draft));
  const base::MutexLock lock(mu_);
  known_ = next;
  return next;
}

SnapshotPtr Reader::MaybeRefresh() {
  return refreshing_ ? RefreshNow() : Known();
}

void Reader::AskWriters() {
  // Who follows one worker is its hook's own, and comes when a step is there.
  if (options_.only_worker) return;
  const uint64_t news = run::NewsHere();
  run::AwaitWriters(*storage_, opened_, options_.while_waiting);
  asked_ = news;
}

SnapshotPtr Reader::RefreshNow(bool force) {
  if (run::NewsHere() != asked_ && !Known()->loaded_all) AskWriters();
  // True of what is known if another thread has looked after our call.
  const auto is_current = [&](const Snapshot& known, uint64_t changes) {
    return known.loaded_all ||
           (!force && watch_ != nullptr && changes == known.change &&
            Clock::now() - known.looked < kLookAnywayAfter);
  };
  const auto changes = [&] {
    return watch_ != nullptr ? watch_->Changes() : Known()->change + 1;
  };
  SnapshotPtr known = Known();
  if (is_current(*known, changes())) return known;
  End end;
  {
    const Turn turn(this);
    known = Known();
    const uint64_t seen = changes();
    if (is_current(*known, seen)) return known;
    known = Look(seen, end);
  }
  if (!end.over) return known;
  if (end.marker) AwaitStragglers(*known, *end.marker);
  const Turn turn(this);
  known = Known();
  return known->loaded_all ? known : LookAtAll();
}

SnapshotPtr Reader::Gather(const std::function<void(Snapshot&)>& look) {
  Snapshot draft = Known()->Draft();
  draft.change = 0;
  try {
    look(draft);
  } catch (const IoError&) {
    CheckIdentity();
    // What was read need not be read again.
    Commit(std::move(draft));
    throw;
  }
  // What was found is of the run that was opened, or nobody sees it.
  CheckIdentity();
  return Commit(std::move(draft));
}

void Reader::CheckIdentity() const { run::RequireRunStill(*storage_, opened_); }

bool Reader::IsAbandoned() {
  const Clock::time_point now = Clock::now();
  if (now - checked_ < kLookAnywayAfter) return false;
  checked_ = now;
  const run::Survey survey = run::LookAt(*storage_);
  if (!survey.info.over()) return false;
  if (run::IsOfThisMachine(survey)) return true;
  // Another machine may have another idea of the time, so that its last sign
  // may look old: it counts when no new one came for as long as we look.
  std::vector<double> signs;
  for (const run::Ledger& ledger : survey.ledgers) {
    signs.push_back(ledger.updated);
  }
  if (signs != last_signs_) {
    last_signs_ = std::move(signs);
    silent_since_ = now;
  }
  return now - silent_since_ >= kSilence;
}

SnapshotPtr Reader::Look(uint64_t changes, End& end) {
  return Gather([&](Snapshot& draft) {
    draft.looked = Clock::now();
    // The marker first: what was there before it is seen by the scan.
    end.marker = storage_->Stat(run::kEndMarkerKey);
    end.over = end.marker || IsAbandoned();
    ReadCollections(draft);
    draft.scanner.Scan();
    // No further change may come that would make us look once more.
    draft.scanner.GiveUpBeyondWindow();
    // Who knows of the end looks once more, at everything.
    if (!end.over) draft.change = changes;
  });
}

SnapshotPtr Reader::LookAtAll() {
  return Gather([&](Snapshot& draft) {
    ReadCollections(draft);
    draft.scanner.ScanAll();
    draft.missing = FindMissing(draft);
    draft.loaded_all = true;
  });
}

bool Reader::AllWorkersClosed(const Snapshot& known) const {
  const run::Survey survey = run::LookAt(*storage_);
  return survey.damage.empty() &&
         std::ranges::count(survey.ledgers, true, &run::Ledger::closed) >=
             known.collections->num_workers();
}

StepState Reader::HasPassedStep(int64_t step, Mode mode) {
  const StepState state = Known()->StateOf(step, mode);
  // It stays so.
  if (state == StepState::kAvailable) return state;
  return MaybeRefresh()->StateOf(step, mode);
}

void Reader::Refresh() { RefreshNow(true); }

bool Reader::SetRefreshing(bool on) { return refreshing_.exchange(on); }

bool Reader::refreshing() const { return refreshing_; }

bool Reader::loaded_all_steps() const { return Known()->loaded_all; }

int64_t Reader::last_complete_step() const {
  return Known()->scanner.last_complete_step();
}

std::string Reader::last_index_token() const {
  return Known()->scanner.token();
}

void Reader::SetEndDelay(milliseconds delay) { end_delay_ = delay; }

// What a run that is over lacks by its own account.
std::vector<Damage> Reader::FindMissing(const Snapshot& known) const {
  const run::Survey survey = run::LookAt(*storage_);
  std::vector<Damage> missing;
  const Catalog& catalog = known.catalog();
  std::map<std::string, int64_t> there;  // By worker, in file names.
  for (uint32_t i = 0; i < catalog.num_workers(); ++i) {
    const std::string& worker = catalog.worker(i);
    const std::string name = run::EncodeWorker(worker);
    there[name] = catalog.num_steps(i);
    if (known.collections->workers().contains(worker)) continue;
    // One that was killed may have had no time to write them.
    if (!run::HasLeft(survey, name)) continue;
    missing.push_back(
        {.file = run::CollectionsFileKey(name),
         .reason = fmt::format("is missing, but {} has saved steps", name),
         .kind = DamageKind::kBadCollections});
  }
  if (options_.begin_step || options_.end_step) return missing;
  for (const auto& [name, bad] : known.scanner.damaged()) {
    ++there[run::EncodeWorker(bad.item.worker)];
  }
  for (const run::Ledger& ledger : survey.ledgers) {
    if (options_.only_worker &&
        ledger.worker != run::EncodeWorker(*options_.only_worker)) {
      continue;
    }
    std::string reason =
        run::MissingSteps(survey, ledger, there[ledger.worker]);
    if (reason.empty()) continue;
    missing.push_back({.file = std::string(run::FolderOf(run::kIndexPrefix)),
                       .reason = std::move(reason),
                       .kind = DamageKind::kMissingSteps});
  }
  return missing;
}

std::vector<Damage> Reader::damage() const {
  const SnapshotPtr known = Known();
  std::vector<Damage> all = known->collections->damage();
  for (const auto& [name, bad] : known->scanner.damaged()) {
    all.push_back({.file = name,
                   .reason = bad.reason,
                   .kind = bad.kind,
                   .step = bad.item.step});
  }
  all.insert(all.end(), known->missing.begin(), known->missing.end());
  const base::MutexLock lock(mu_);
  all.insert(all.end(), value_damage_.begin(), value_damage_.end());
  return all;
}

}  // namespace smdebug::trial
