#include "src/run/run_folder.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "smdebug/error.h"
#include "src/base/bytes.h"
#include "src/base/clock.h"
#include "src/base/host.h"
#include "src/base/kill_point.h"
#include "src/base/log.h"
#include "src/base/text.h"
#include "src/run/keys.h"
#include "src/run/run_id.h"

namespace smdebug::run {
namespace {

// How often one who waits for another to prepare the folder looks again.
constexpr std::chrono::milliseconds kLookAgainAfter{100};

// Enough for the last ledger and the end marker.
constexpr size_t kReservedBytes = size_t{16} << 10;

// Workers of a job that neither has a name nor tells where its workers meet
// start within this time of each other.
constexpr double kTogetherSeconds = 600;

}  // namespace

RunFolder::RunFolder(std::shared_ptr<Storage> storage, Options options)
    : storage_(std::move(storage)),
      options_(std::move(options)),
      started_(base::WallSeconds()) {}

RunFolder::~RunFolder() {
  if (!entered_) return;
  try {
    if (!OthersWrite()) GiveUpClaim();
  } catch (const std::exception&) {
    // The process ends, and with it the claim.
  }
}

void RunFolder::CheckEnterable() const {
  CheckMovable(MakePlan(LookAt(*storage_)));
  CheckWritable();
}

Entered RunFolder::Enter() {
  while (true) {
    const auto found = storage_->ReadVersioned(kClaimKey);
    const Survey survey = LookAt(*storage_);
    const Plan plan = MakePlan(survey);
    if (plan.wait) {
      AwaitChange();
      continue;
    }
    if (plan.join) {
      if (const auto entered = TryToJoin(survey)) return *entered;
      continue;
    }
    CheckMovable(plan);
    // An identity that was used here is of another run.
    const bool is_used =
        !options_.run_id.empty() && survey.id == options_.run_id;
    run_id_ = options_.run_id.empty() || is_used ? NewRunId() : options_.run_id;
    if (!TakeClaim(found, plan.moving)) continue;
    entered_ = true;
    storage_->Hold();
    SMDEBUG_KILL_POINT("after_claim");
    if (!plan.moving.empty()) SetAside(plan.moving, survey.info.state);
    Begin();
    if (!KeepClaim(run_id_)) {
      StepBack();
      RefuseAsTaken();
    }
    SMDEBUG_KILL_POINT("after_enter");
    return Entered::kNew;
  }
}

std::optional<Entered> RunFolder::TryToJoin(const Survey& survey) {
  // Nothing is moved of a run that another has begun meanwhile.
  if (ReadClaim(*storage_) != survey.claim) return std::nullopt;
  run_id_ = survey.id;
  entered_ = true;
  storage_->Hold();
  const bool again = SetAsideOwnFiles();
  Begin();
  if (KeepClaim(survey.claim->run)) {
    return again ? Entered::kContinued : Entered::kJoined;
  }
  StepBack();
  return std::nullopt;
}

// Whoever found the run without a living process, before this one's ledger was
// there, can no longer take the claim then, and has to look again.
bool RunFolder::KeepClaim(std::string_view run) {
  while (const auto found = storage_->ReadVersioned(kClaimKey)) {
    const auto claim = ParseClaim(found->text);
    if (!claim || claim->run != run) return false;
    if (storage_->ReplaceIfUnchanged(kClaimKey, found->version,
                                     base::AsBytes(found->text))) {
      return true;
    }
  }
  return false;
}

void RunFolder::StepBack() {
  reserve_ = nullptr;
  presence_ = {};
  entered_ = false;
  // It may have been set aside, and the name be another's by now.
  const auto ledger = FindLedger(options_.worker);
  if (ledger && ledger->run == run_id_) {
    storage_->Remove(LedgerKey(options_.worker));
  }
}

void RunFolder::RefuseAsTaken() const {
  if (const auto claim = ReadClaim(*storage_)) {
    throw RunBusyError(storage_->root(), claim->host, claim->pid,
                       claim->worker);
  }
  throw Error(fmt::format("{}: another process has taken the folder meanwhile",
                          storage_->root()));
}

RunFolder::Plan RunFolder::MakePlan(const Survey& survey) const {
  const RunInfo& info = survey.info;
  const Ledger* const writer = FindWriter(survey);
  if (!survey.claim && writer != nullptr) {
    // Of a job whose claim was removed by hand.
    throw RunBusyError(storage_->root(), writer->host, writer->pid,
                       writer->worker);
  }
  if (survey.claim && (!info.over() || IsAwaited(survey))) {
    if (IsOfThisJob(survey)) {
      if (survey.is_starting()) return {.wait = true};
      CheckWorkerIsFree(survey);
      return {.join = true};
    }
    const Claim& claim = *survey.claim;
    if (writer == nullptr) {
      throw RunBusyError(storage_->root(), claim.host, claim.pid, claim.worker);
    }
    throw RunBusyError(storage_->root(), writer->host, writer->pid,
                       writer->worker);
  }
  if (survey.is_starting()) return {.moving = survey.claim->moving};
  // A job that was started again as a whole meets its own marker.
  const bool is_finished = survey.marker && info.state == RunState::kFinished;
  if (is_finished && !WasOfThisJob(survey)) {
    throw RunExistsError(storage_->root());
  }
  return {.moving = HasOldFiles() ? PreviousPrefix(CountPrevious() + 1) : ""};
}

bool RunFolder::IsOfThisJob(const Survey& survey) const {
  const Claim& claim = *survey.claim;
  if (options_.num_workers == 1 || claim.num_workers != options_.num_workers) {
    return false;
  }
  if (!options_.run_id.empty() && options_.run_id == claim.run) return true;
  // Names decide where there are any.
  if (!claim.job.empty() || !options_.job.name.empty()) {
    return claim.job == options_.job.name;
  }
  return SharesProof(claim.proofs, options_.job.proofs) ||
         std::abs(claim.claimed - started_) <= kTogetherSeconds;
}

bool RunFolder::IsAwaited(const Survey& survey) const {
  if (survey.marker || survey.is_starting() || survey.ledgers.empty()) {
    return false;
  }
  const auto has_gone_before = [&](const Ledger& ledger) {
    return ledger.closed && ledger.worker != options_.worker &&
           std::abs(ledger.updated - started_) <= kTogetherSeconds;
  };
  return std::ssize(survey.ledgers) < options_.num_workers &&
         std::ranges::all_of(survey.ledgers, has_gone_before) &&
         IsOfThisJob(survey);
}

bool RunFolder::WasOfThisJob(const Survey& survey) const {
  if (options_.num_workers == 1) return false;
  if (!options_.run_id.empty() && options_.run_id == survey.id) return true;
  return !options_.job.name.empty() &&
         std::ranges::any_of(survey.ledgers, [&](const Ledger& ledger) {
           return ledger.worker == options_.worker &&
                  ledger.job == options_.job.name;
         });
}

void RunFolder::CheckWorkerIsFree(const Survey& survey) const {
  const auto own =
      std::ranges::find(survey.ledgers, options_.worker, &Ledger::worker);
  if (own == survey.ledgers.end() || own->closed || !IsAlive(*own)) return;
  throw RunBusyError(storage_->root(), own->host, own->pid, own->worker);
}

bool RunFolder::HasOldFiles() const {
  if (storage_->Stat(kEndMarkerKey)) return true;
  return std::ranges::any_of(kRunPrefixes, [&](std::string_view prefix) {
    return !storage_->List(prefix, {}, 1).empty();
  });
}

int64_t RunFolder::CountPrevious() const {
  int64_t n = 0;
  while (!storage_->List(PreviousPrefix(n + 1), {}, 1).empty()) ++n;
  return n;
}

void RunFolder::CheckWritable() const {
  // Destroyed before it is published, it leaves nothing behind.
  MakeReserve(fmt::format("{}.{}", kClaimKey, getpid()));
}

void RunFolder::CheckMovable(const Plan& plan) const {
  if (plan.moving.empty()) return;
  const std::string_view folder = FolderOf(kPreviousPrefix);
  // What is not there yet can be made where a claim can be.
  if (storage_->List(kPreviousPrefix, {}, 1).empty() &&
      storage_->FindLink(folder).empty()) {
    return;
  }
  MakeReserve(fmt::format("{}{}.{}", kPreviousPrefix, kClaimKey, getpid()));
}

std::unique_ptr<PendingFile> RunFolder::MakeReserve(
    const std::string& key) const {
  static const std::string kFill(kReservedBytes, ' ');
  auto file = storage_->Create(key);
  try {
    const Bytes parts[] = {base::AsBytes(kFill)};
    file->Append(parts);
    file->Flush();
  } catch (const IoError& error) {
    // What else there is, a limit to the size of files say, the steps will
    // meet.
    if (error.kind() == IoKind::kNoSpace) throw;
  }
  return file;
}

void RunFolder::Begin() {
  reserve_ = MakeReserve(LedgerKey(options_.worker) + ".reserve");
  presence_ = Presence(PresenceName(*storage_, run_id_, options_.worker));
  WriteLedger({});
}

Claim RunFolder::OwnClaim() const {
  return {.run = run_id_,
          .worker = options_.worker,
          .num_workers = options_.num_workers,
          .job = options_.job.name,
          .proofs = options_.job.proofs,
          .host = base::HostName(),
          .machine = base::MachineId(),
          .pid = getpid(),
          .start = base::ProcessStart(getpid()),
          .claimed = base::WallSeconds()};
}

bool RunFolder::TakeClaim(const std::optional<VersionedText>& found,
                          const std::string& moving) {
  Claim claim = OwnClaim();
  claim.moving = moving;
  const std::string text = ToJson(claim);
  return found ? storage_->ReplaceIfUnchanged(kClaimKey, found->version,
                                              base::AsBytes(text))
               : storage_->CreateExclusive(kClaimKey, base::AsBytes(text));
}

// From the claim that names `target` on, the run before is no longer the run of
// the folder, so it need not be whole there until it is whole in `target`. A
// start that is killed meanwhile leaves the rest to the next one.
void RunFolder::SetAside(const std::string& target, RunState state) {
  FinishOwnMoves(target);
  for (const std::string_view prefix : kRunPrefixes) {
    storage_->MoveAll(prefix, target + std::string(prefix));
    SMDEBUG_KILL_POINT("after_move");
  }
  if (storage_->Stat(kEndMarkerKey)) {
    storage_->Move(kEndMarkerKey, target + std::string(kEndMarkerKey));
  }
  SMDEBUG_KILL_POINT("after_set_aside");
  // A finished one had no marker, or was an earlier start of this job.
  base::LogWarning(
      "{} held a run that {}; it is now under {} inside it", storage_->root(),
      state == RunState::kFinished ? "had finished" : "did not finish", target);
  const auto found = storage_->ReadVersioned(kClaimKey);
  const auto claim = found ? ParseClaim(found->text) : std::nullopt;
  if (claim && claim->run == run_id_ && TakeClaim(found, "")) return;
  RefuseAsTaken();
}

bool RunFolder::SetAsideOwnFiles() {
  const std::vector<std::string> old = FilesOf(options_.worker);
  if (old.empty()) return false;
  auto ledger = FindLedger(options_.worker);
  std::string target = ledger ? ledger->moving : "";
  if (target.empty()) target = PreviousPrefix(CountPrevious() + 1);
  base::LogWarning(
      "{}: {} comes a second time; the {} of its first are now under {}",
      storage_->root(), options_.worker,
      base::Counted(static_cast<int64_t>(old.size()), "file"), target);
  if (ledger) {
    ledger->moving = target;
    Put(LedgerKey(options_.worker), ToJson(*ledger));
  }
  MoveFilesOf(options_.worker, target);
  return true;
}

// What workers have moved that were killed when they came a second time is no
// run without the rest.
void RunFolder::FinishOwnMoves(const std::string& target) {
  for (const FileInfo& file : storage_->List(kLedgerPrefix)) {
    const auto worker = ParseWorkerFileKey(file.key);
    const auto ledger = worker ? FindLedger(*worker) : std::nullopt;
    if (!ledger || ledger->moving.empty() || ledger->moving == target) continue;
    MoveFilesOf(*worker, ledger->moving);
  }
}

// The ledger, which says where to, goes last.
void RunFolder::MoveFilesOf(std::string_view worker,
                            const std::string& target) {
  const std::string ledger_key = LedgerKey(worker);
  for (const std::string& key : FilesOf(worker)) {
    if (key == ledger_key) continue;
    storage_->Move(key, target + key);
    SMDEBUG_KILL_POINT("after_own_move");
  }
  auto ledger = FindLedger(worker);
  if (!ledger) {
    if (storage_->Stat(ledger_key)) {
      storage_->Move(ledger_key, target + ledger_key);
    }
    return;
  }
  ledger->moving.clear();
  Put(target + ledger_key, ToJson(*ledger));
  SMDEBUG_KILL_POINT("after_own_move");
  storage_->Remove(ledger_key);
}

std::vector<std::string> RunFolder::FilesOf(std::string_view worker) const {
  std::vector<std::string> keys;
  for (const std::string_view prefix : kRunPrefixes) {
    for (FileInfo& file : storage_->List(prefix)) {
      if (WorkerOfKey(file.key) == worker) keys.push_back(std::move(file.key));
    }
  }
  return keys;
}

// nullopt if there is none that can be read.
std::optional<Ledger> RunFolder::FindLedger(std::string_view worker) const {
  const std::string key = LedgerKey(worker);
  const auto blob = storage_->Read(key);
  if (!blob) return std::nullopt;
  try {
    return ParseLedger(blob->text(), key);
  } catch (const FormatError&) {
    return std::nullopt;
  }
}

void RunFolder::AwaitChange() const {
  const auto watch = storage_->Watch({});
  if (watch != nullptr) {
    watch->Wait(watch->Changes(), kLookAgainAfter);
  } else {
    std::this_thread::sleep_for(kLookAgainAfter);
  }
}

void RunFolder::FillIn(Ledger& ledger) const {
  ledger.worker = options_.worker;
  ledger.num_workers = options_.num_workers;
  ledger.run = run_id_;
  ledger.job = options_.job.name;
  ledger.host = base::HostName();
  ledger.machine = base::MachineId();
  ledger.pid = getpid();
  ledger.start = base::ProcessStart(getpid());
  ledger.started = started_;
  ledger.updated = base::WallSeconds();
}

void RunFolder::WriteLedger(Ledger ledger) {
  FillIn(ledger);
  Put(LedgerKey(options_.worker), ToJson(ledger));
}

void RunFolder::Leave(Ledger ledger, Ending ending, std::string_view reason) {
  reserve_ = nullptr;
  ledger.closed = true;
  ledger.ending = EndingName(ending);
  ledger.reason = reason;
  WriteLedger(std::move(ledger));
  SMDEBUG_KILL_POINT("after_last_ledger");
  if (AllWorkersClosed()) {
    // Workers that close at the same time may each see all the others closed.
    if (!options_.managed) {
      const std::string marker = ToJson(LastWordOf(LookAt(*storage_)));
      storage_->CreateExclusive(kEndMarkerKey, base::AsBytes(marker));
    }
    SMDEBUG_KILL_POINT("after_marker");
    GiveUpClaim();
  }
  presence_ = {};
  entered_ = false;
}

void RunFolder::Abandon(Ledger ledger) {
  reserve_ = nullptr;
  ledger.closed = true;
  ledger.ending = EndingName(Ending::kInterrupted);
  ledger.reason = "started over";
  WriteLedger(std::move(ledger));
  if (!OthersWrite()) GiveUpClaim();
  presence_ = {};
  entered_ = false;
}

bool RunFolder::AllWorkersClosed() const {
  // Each worker writes its own ledger before it looks at the others', so the
  // last one to close sees them all.
  const Survey survey = LookAt(*storage_);
  for (const Damage& damage : survey.damage) {
    base::LogWarning("{}", damage.reason);
  }
  const auto closed =
      std::ranges::count_if(survey.ledgers, [&](const Ledger& ledger) {
        return ledger.closed && ledger.run == run_id_;
      });
  return closed >= options_.num_workers;
}

bool RunFolder::OthersWrite() const {
  return options_.num_workers > 1 &&
         std::ranges::any_of(
             LookAt(*storage_).ledgers, [&](const Ledger& ledger) {
               return ledger.run == run_id_ &&
                      ledger.worker != options_.worker && !ledger.closed;
             });
}

void RunFolder::GiveUpClaim() {
  const auto found = storage_->Read(kClaimKey);
  if (!found) return;
  const auto claim = ParseClaim(found->text());
  if (claim && claim->run == run_id_) storage_->Remove(kClaimKey);
}

void RunFolder::Put(std::string_view key, std::string_view text) {
  const auto file = storage_->Create(key);
  const Bytes parts[] = {base::AsBytes(text)};
  file->Append(parts);
  file->Publish();
}

}  // namespace smdebug::run
