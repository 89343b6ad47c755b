#include "src/run/survey.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "smdebug/error.h"
#include "src/base/clock.h"
#include "src/base/host.h"
#include "src/base/json_reader.h"
#include "src/base/json_writer.h"
#include "src/base/text.h"
#include "src/run/keys.h"
#include "src/run/presence.h"

namespace smdebug {

std::string_view EndingName(Ending ending) noexcept {
  constexpr std::array<std::string_view, 3> kNames = {"finished", "failed",
                                                      "interrupted"};
  return kNames[static_cast<size_t>(ending)];
}

std::string_view RunStateName(RunState state) noexcept {
  constexpr std::array<std::string_view, 6> kNames = {
      "running", "finished", "failed", "interrupted", "killed", "unknown"};
  return kNames[static_cast<size_t>(state)];
}

RunInfo LookAtRun(const Storage& storage) { return run::LookAt(storage).info; }

bool HasRunEnded(const Storage& storage) {
  return storage.Stat(run::kEndMarkerKey).has_value();
}

void MarkRunEnded(Storage& storage) {
  storage.CreateExclusive(run::kEndMarkerKey, {});
}

namespace run {
namespace {

// A living process updates its ledger every minute.
constexpr double kSilenceSeconds = 300;

// What is known of a process that wrote.
struct Trace {
  const std::string& host;
  const std::string& machine;
  int64_t pid;
  uint64_t start;
  double seen;  // When it last showed itself, in seconds since the epoch.
};

bool Lives(const Trace& trace) {
  const bool is_here =
      trace.host == base::HostName() &&
      (trace.machine.empty() || trace.machine == base::MachineId());
  if (is_here) {
    const auto status = base::FindProcessStatus(trace.pid);
    if (!status || status->HasEnded()) return false;
    return trace.start == 0 || status->start == trace.start;
  }
  // Before this machine was started, nothing on it that writes now was there.
  if (trace.host == base::HostName() && trace.seen < base::BootSeconds()) {
    return false;
  }
  return base::WallSeconds() - trace.seen <= kSilenceSeconds;
}

std::optional<EndMarker> ReadMarker(const Storage& storage) {
  const auto blob = storage.Read(kEndMarkerKey);
  return blob ? std::optional(ParseEndMarker(blob->text())) : std::nullopt;
}

// The last word of a worker; a closed ledger of an older version says none.
Ending EndingOf(const Ledger& ledger) {
  return ParseEnding(ledger.ending).value_or(Ending::kFinished);
}

std::string WhoIsGone(const Ledger& ledger) {
  return fmt::format("{} (process {} on {}) is gone", ledger.worker, ledger.pid,
                     ledger.host);
}

// Of a run that others write still; empty if nobody is gone.
std::string WhoAreGone(const Survey& survey) {
  std::string text;
  int64_t more = 0;
  for (const Ledger& ledger : survey.ledgers) {
    if (ledger.closed || IsAlive(ledger)) continue;
    if (text.empty()) {
      text = WhoIsGone(ledger);
    } else {
      ++more;
    }
  }
  return more == 0 ? text
                   : fmt::format("{}, and so {} {} more", text,
                                 more == 1 ? "is" : "are", more);
}

// All workers have said that they have closed, and the claim is still there.
constexpr std::string_view kNoMarker =
    "its end marker is missing: it could not be written, or the last process "
    "was ended just before";

// The same without the claim, which goes when the marker is there.
constexpr std::string_view kNoMarkerNow =
    "its end marker is missing: it was removed, or a platform has yet to "
    "write it";

RunState StateOf(Ending ending) {
  switch (ending) {
    case Ending::kFailed:
      return RunState::kFailed;
    case Ending::kInterrupted:
      return RunState::kInterrupted;
    case Ending::kFinished:
      break;
  }
  return RunState::kFinished;
}

}  // namespace

std::optional<Claim> ReadClaim(const Storage& storage) {
  const auto blob = storage.Read(kClaimKey);
  return blob ? ParseClaim(blob->text()) : std::nullopt;
}

std::optional<Ending> ParseEnding(std::string_view text) noexcept {
  for (const Ending ending :
       {Ending::kFinished, Ending::kFailed, Ending::kInterrupted}) {
    if (text == EndingName(ending)) return ending;
  }
  return std::nullopt;
}

std::string ToJson(const EndMarker& marker) {
  base::JsonWriter json;
  json.BeginObject();
  json.Key("run").String(marker.run);
  json.Key("ending").String(EndingName(marker.ending));
  json.Key("reason").String(marker.reason);
  json.EndObject();
  return json.Take();
}

EndMarker ParseEndMarker(std::string_view text) {
  EndMarker marker;
  if (text.empty()) return marker;
  try {
    const base::JsonReader reader(text, kEndMarkerKey);
    const auto read = [&](std::string_view key) {
      const auto found = reader.Find(reader.root(), key);
      return found ? reader.GetString(*found, {.key = key})
                   : std::string_view();
    };
    EndMarker told;
    told.run = read("run");
    told.ending = ParseEnding(read("ending")).value_or(Ending::kFinished);
    told.reason = read("reason");
    return told;
  } catch (const FormatError& error) {
    marker.damage = error.reason();
    return marker;
  }
}

bool IsAlive(const Claim& claim) {
  return Lives(
      {claim.host, claim.machine, claim.pid, claim.start, claim.claimed});
}

bool IsAlive(const Ledger& ledger) {
  return Lives(
      {ledger.host, ledger.machine, ledger.pid, ledger.start, ledger.updated});
}

namespace {

RunInfo JudgeNow(const Survey& survey);
void JudgeCopy(const Storage& storage, Survey& survey);

// Without the judgement, of files that may change meanwhile.
Survey LookOnce(const Storage& storage) {
  Survey survey;
  // The order is that of a writer, backwards.
  survey.marker = ReadMarker(storage);
  survey.claim = ReadClaim(storage);
  std::vector<Ledger> ledgers;
  for (const FileInfo& file : storage.List(kLedgerPrefix)) {
    if (!ParseWorkerFileKey(file.key)) continue;
    const auto blob = storage.Read(file.key);
    if (!blob) continue;  // Set aside since it was listed.
    try {
      ledgers.push_back(ParseLedger(blob->text(), file.key));
      // The name of the file is the worker's, whatever its content claims.
      ledgers.back().worker = *ParseWorkerFileKey(file.key);
    } catch (const FormatError& error) {
      survey.damage.push_back({.file = file.key,
                               .reason = std::string(error.reason()),
                               .kind = DamageKind::kBadLedger});
    }
  }
  if (survey.claim && !survey.claim->run.empty()) {
    survey.id = survey.claim->run;
  } else if (survey.marker && !survey.marker->run.empty()) {
    survey.id = survey.marker->run;
  } else if (const auto newest =
                 std::ranges::max_element(ledgers, {}, &Ledger::updated);
             newest != ledgers.end()) {
    survey.id = newest->run;
  }
  std::erase_if(ledgers, [&](const Ledger& ledger) {
    return !ledger.run.empty() && ledger.run != survey.id;
  });
  // A claim is the first word of a new run; a marker beside it that has another
  // id is of the one before.
  if (survey.claim && survey.marker && !survey.marker->run.empty() &&
      survey.marker->run != survey.id) {
    survey.marker.reset();
  }
  survey.ledgers = std::move(ledgers);
  // Other jobs may have one of somebody else, with any content.
  if (!survey.id.empty() && survey.marker && !survey.marker->damage.empty()) {
    survey.damage.push_back({.file = std::string(kEndMarkerKey),
                             .reason = survey.marker->damage,
                             .kind = DamageKind::kBadMarker});
  }
  return survey;
}

// Of one run: while we look, another start may take the folder from a run that
// was killed and move its ledgers away.
Survey LookAndJudge(const Storage& storage) {
  while (true) {
    Survey survey = LookOnce(storage);
    if (survey.claim && ReadClaim(storage) != survey.claim) continue;
    survey.info = JudgeNow(survey);
    JudgeCopy(storage, survey);
    return survey;
  }
}

}  // namespace

Survey LookAt(const Storage& storage) {
  Survey survey = LookAndJudge(storage);
  const bool lacks_marker =
      survey.info.over() && survey.claim && !survey.marker;
  if (survey.info.state != RunState::kKilled && !lacks_marker) return survey;
  // A process may have written its last word and ended while we looked. Of one
  // that is known to be gone, another look sees everything.
  return LookAndJudge(storage);
}

std::string IdentityOf(const Storage& storage) {
  if (auto claim = ReadClaim(storage); claim && !claim->run.empty()) {
    return std::move(claim->run);
  }
  if (auto marker = ReadMarker(storage); marker && !marker->run.empty()) {
    return std::move(marker->run);
  }
  return LookAt(storage).id;
}

void RequireRun(const Storage& storage, const std::string& id) {
  const std::string found = IdentityOf(storage);
  if (found.empty() || found == id) return;
  throw RunReplacedError(storage.root(), id, found);
}

void RequireRunStill(const Storage& storage, const std::string& id) {
  const std::string found = IdentityOf(storage);
  if (found == id || (found.empty() && HoldsRun(storage))) return;
  throw RunReplacedError(storage.root(), id, found);
}

void RequireRunToWrite(const Storage& storage, const std::string& id) {
  RequireRun(storage, id);
  if (HoldsRun(storage)) return;
  throw IoError("write to", storage.root(), IoKind::kMissing,
                "the run is no longer there");
}

bool HoldsRun(const Storage& storage) {
  const auto has_any = [&](std::string_view prefix) {
    return std::ranges::any_of(storage.List(prefix), [](const FileInfo& file) {
      return WorkerOfKey(file.key).has_value();
    });
  };
  if (const auto blob = storage.Read(kClaimKey)) {
    const auto claim = ParseClaim(blob->text());
    return !claim || claim->moving.empty();
  }
  return storage.Stat(kEndMarkerKey) || has_any(kCollectionsPrefix) ||
         has_any(kLedgerPrefix) || has_any(kIndexPrefix) ||
         has_any(kEventsPrefix);
}

std::string WhyNoRun(const Storage& storage) {
  const Survey survey = LookAt(storage);
  if (!survey.is_starting()) {
    const std::string hint = HintAtRunsBelow(storage.root());
    return hint.empty() ? "holds no run: it has no collections, index, events "
                          "or ledger files and no end marker"
                        : "holds no run itself; " + hint;
  }
  const RunInfo& info = survey.info;
  return fmt::format("holds no run yet: {}",
                     info.state == RunState::kKilled
                         ? info.reason
                         : fmt::format("process {} on {} is moving the run "
                                       "before to {}",
                                       survey.claim->pid, survey.claim->host,
                                       survey.claim->moving));
}

std::string HintAtRunsBelow(const std::string& root) {
  namespace fs = std::filesystem;
  constexpr int64_t kMostRuns = 1000;
  int64_t runs = 0;
  std::error_code code;
  if (!fs::is_directory(root, code)) return {};
  for (fs::directory_iterator it(root, code), end;
       !code && it != end && runs < kMostRuns; it.increment(code)) {
    try {
      std::error_code gone;  // Since it was listed.
      if (it->is_directory(gone) && HoldsRun(*OpenStorage(it->path().string())))
        ++runs;
    } catch (const Error&) {
      continue;  // Nothing that can be listed.
    }
  }
  if (runs == 0) return {};
  return fmt::format("`smdebug ls {}` lists the {} in it", root,
                     runs == 1 ? "run" : base::Counted(runs, "run"));
}

bool IsOwn(const Claim& claim) {
  return claim.pid == getpid() && claim.host == base::HostName() &&
         claim.start == base::ProcessStart(getpid());
}

std::string WhatIsAwaited(const Survey& survey, std::string_view found) {
  if (!survey.claim || survey.claim->pid == 0 || !IsAlive(*survey.claim)) {
    return fmt::format(
        "still waiting for collections files ({} found); is this the folder "
        "of a run? One whose first step has not begun has none",
        found);
  }
  const Claim& claim = *survey.claim;
  return fmt::format(
      "the run has begun and has saved nothing yet; {}",
      IsOwn(claim)
          ? fmt::format("this process, {}, writes it, and waits here "
                        "until another thread of it saves something",
                        claim.pid)
          : fmt::format("process {} on {} writes it", claim.pid, claim.host));
}

bool IsOfThisMachine(const Survey& survey) {
  const auto is_here = [](const std::string& host, const std::string& machine) {
    return host == base::HostName() && machine == base::MachineId();
  };
  return (!survey.claim ||
          is_here(survey.claim->host, survey.claim->machine)) &&
         std::ranges::all_of(survey.ledgers, [&](const Ledger& ledger) {
           return ledger.closed || is_here(ledger.host, ledger.machine);
         });
}

const Ledger* FindWriter(const Survey& survey) {
  for (const Ledger& ledger : survey.ledgers) {
    if (!ledger.closed && IsAlive(ledger)) return &ledger;
  }
  return nullptr;
}

// A ledger is written after the steps that it counts.
std::string MissingSteps(const Survey& survey, const Ledger& ledger,
                         int64_t there) {
  const int64_t saved = ledger.stats.steps_saved;
  const bool is_over = ledger.closed || survey.info.over();
  if (!is_over || !ledger.moving.empty() || saved <= there) return {};
  return fmt::format(
      "{} {} missing: the ledger of {} says {} {} saved, {} {} there",
      base::Counted(saved - there, "step"), saved - there == 1 ? "is" : "are",
      ledger.worker, saved, saved == 1 ? "was" : "were", there,
      there == 1 ? "is" : "are");
}

bool KeepsLedgers(const Survey& survey) {
  return !survey.id.empty() || !survey.ledgers.empty() ||
         std::ranges::find(survey.damage, DamageKind::kBadLedger,
                           &Damage::kind) != survey.damage.end();
}

std::optional<Damage> LedgerDamage(const Survey& survey,
                                   std::string_view worker) {
  if (std::ranges::find(survey.ledgers, worker, &Ledger::worker) !=
      survey.ledgers.end()) {
    return std::nullopt;
  }
  std::string key = LedgerKey(worker);
  const auto damage = std::ranges::find(survey.damage, key, &Damage::file);
  if (damage != survey.damage.end()) return *damage;
  return Damage{
      .file = std::move(key),
      .reason = fmt::format("is missing, but {} has saved steps", worker),
      .kind = DamageKind::kBadLedger};
}

bool HasLeft(const Survey& survey, std::string_view worker) {
  const auto ledger =
      std::ranges::find(survey.ledgers, worker, &Ledger::worker);
  return ledger == survey.ledgers.end()
             ? survey.marker.has_value()
             : ledger->closed && ledger->moving.empty();
}

EndMarker LastWordOf(const Survey& survey) {
  EndMarker word = {.run = survey.id};
  for (const Ledger& ledger : survey.ledgers) {
    if (!ledger.closed || EndingOf(ledger) == Ending::kFinished) continue;
    if (word.ending != Ending::kFailed) word.ending = EndingOf(ledger);
    if (word.reason.empty()) word.reason = ledger.reason;
  }
  return word;
}

namespace {

RunInfo JudgeNow(const Survey& survey) {
  RunInfo info = {.id = survey.id};
  if (survey.is_starting()) {
    info.state =
        IsAlive(*survey.claim) ? RunState::kRunning : RunState::kKilled;
    if (info.state == RunState::kKilled) {
      info.reason = fmt::format(
          "process {} on {} was ended while it moved the run before to {}; the "
          "next start goes on with it",
          survey.claim->pid, survey.claim->host, survey.claim->moving);
    }
    return info;
  }
  // The last word of the workers counts where a platform wrote the marker.
  const EndMarker word = LastWordOf(survey);
  info.reason = word.reason;
  if (survey.marker) {
    const bool is_told = survey.marker->ending != Ending::kFinished;
    if (is_told) info.reason = survey.marker->reason;
    info.state = StateOf(is_told ? survey.marker->ending : word.ending);
    return info;
  }
  if (FindWriter(survey) != nullptr) {
    info.state = RunState::kRunning;
    info.reason = WhoAreGone(survey);
    return info;
  }
  const auto gone = std::ranges::find(survey.ledgers, false, &Ledger::closed);
  if (gone != survey.ledgers.end()) {
    info.state = RunState::kKilled;
    info.reason = WhoIsGone(*gone);
    return info;
  }
  const auto is_alive = [](const Ledger& ledger) { return IsAlive(ledger); };
  if (!survey.ledgers.empty() && static_cast<int64_t>(survey.ledgers.size()) >=
                                     survey.ledgers.front().num_workers) {
    // The platform's marker is yet to come.
    info.state = StateOf(word.ending);
    if (!survey.claim) {
      if (info.reason.empty()) info.reason = kNoMarkerNow;
      return info;
    }
    // The last to leave gives up the claim, after the marker is there.
    if (std::ranges::any_of(survey.ledgers, is_alive)) {
      info.state = RunState::kRunning;
      info.reason.clear();
    } else if (info.state == RunState::kFinished) {
      info.reason = kNoMarker;
    }
    return info;
  }
  // Whoever is known has closed, and others have not come.
  if ((survey.claim && IsAlive(*survey.claim)) ||
      std::ranges::any_of(survey.ledgers, is_alive)) {
    info.state = RunState::kRunning;
    info.reason.clear();
  } else if (!survey.ledgers.empty()) {
    info.state = StateOf(word.ending);
    if (info.state != RunState::kFinished) return info;
    info.state = RunState::kKilled;
    info.reason = fmt::format(
        "{} of {} closed, and the others never came", survey.ledgers.size(),
        base::Counted(survey.ledgers.front().num_workers, "worker"));
  } else if (survey.claim) {
    info.state = RunState::kKilled;
    info.reason = fmt::format("process {} on {} is gone", survey.claim->pid,
                              survey.claim->host);
  }
  return info;
}

// The ledgers of a copied folder name processes that live, and write elsewhere.
// Nobody is refused or let in for that: where a folder is shown differently to
// different processes, it may be wrong.
void JudgeCopy(const Storage& storage, Survey& survey) {
  std::error_code code;
  if (survey.info.state != RunState::kRunning || survey.is_starting() ||
      !std::filesystem::is_directory(storage.root(), code)) {
    return;
  }
  const Ledger* first = nullptr;
  for (const Ledger& ledger : survey.ledgers) {
    if (ledger.closed || !IsAlive(ledger)) continue;
    const bool is_here =
        ledger.host == base::HostName() && ledger.machine == base::MachineId();
    if (!is_here ||
        !IsPresentElsewhere(ledger.pid,
                            PresenceName(storage, survey.id, ledger.worker))) {
      return;
    }
    if (first == nullptr) first = &ledger;
  }
  if (first == nullptr) return;
  survey.info.state = RunState::kUnknown;
  survey.info.reason = fmt::format(
      "{} (process {}) writes another folder, of which this seems to be a copy",
      first->worker, first->pid);
}

}  // namespace

}  // namespace run
}  // namespace smdebug
