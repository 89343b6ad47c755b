#include "src/hook/run_folder.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "smdebug/error.h"
#include "src/base/bytes.h"
#include "src/base/clock.h"
#include "src/base/environment.h"
#include "src/base/host.h"
#include "src/base/log.h"
#include "src/index/claim.h"
#include "src/index/run_files.h"

namespace smdebug::hook {
namespace {

// A process on another machine that has not updated its ledger for this long
// counts as gone. A living one updates it every minute.
constexpr double kForeignSilenceSeconds = 300;

// What a run consists of. Anything else in the folder is the user's.
constexpr std::array<std::string_view, 5> kRunPrefixes = {
    "collections/", "events/", "index/", "ledger/", "tensorboard/"};

index::Claim OwnClaim() {
  return {base::HostName(), getpid(), base::ProcessStart(getpid())};
}

// Whether `file` was written by `worker`.
bool BelongsTo(std::string_view worker, std::string_view key) {
  if (const auto step_file = index::ParseStepFileKey(key)) {
    return step_file->worker == worker;
  }
  return index::ParseWorkerFileKey(key) == worker;
}

}  // namespace

std::string JobId() {
  for (const char* name : {"SMDEBUG_JOB_ID", "TORCHELASTIC_RUN_ID",
                           "SLURM_JOB_ID", "PMIX_NAMESPACE"}) {
    const auto value = base::GetEnv(name);
    if (value && !value->empty()) return *value;
  }
  return {};
}

RunFolder::RunFolder(Storage* storage, Options options)
    : storage_(storage),
      options_(std::move(options)),
      started_(base::WallSeconds()) {}

void RunFolder::CheckUnused() const {
  if (!storage_->Stat(index::kEndMarkerKey)) return;
  if (options_.num_workers > 1 && !options_.job.empty()) {
    // A worker that is started anew meets the marker of its own job.
    const std::string key = index::LedgerKey(options_.worker);
    if (const auto text = storage_->Read(key)) {
      try {
        if (index::ParseLedger(text->text(), key).job == options_.job) return;
      } catch (const FormatError&) {
        // Not a ledger of ours: the marker stands.
      }
    }
  }
  throw RunExistsError(storage_->root());
}

bool RunFolder::Enter() {
  if (options_.num_workers == 1 && !claimed_ && !Claim()) return false;
  SetAsideOldFiles();
  return true;
}

bool RunFolder::Claim() {
  const std::string own = index::ToJson(OwnClaim());
  // Each round either wins, finds a living owner, or removes a dead one.
  constexpr int kRounds = 10;
  for (int round = 0; round < kRounds; ++round) {
    if (storage_->CreateExclusive(index::kClaimKey, base::AsBytes(own))) {
      claimed_ = true;
      return true;
    }
    const auto found = storage_->Read(index::kClaimKey);
    if (!found) continue;
    const std::string text(found->text());
    const auto claim = index::ParseClaim(text);
    if (claim && IsAlive(*claim)) {
      base::LogWarning(
          "{} is being written by process {} on {}; this process saves "
          "nothing. Give each process of a job its own worker name and the "
          "number of workers, or each job its own out_dir.",
          storage_->root(), claim->pid, claim->host);
      return false;
    }
    base::LogInfo("{}: removing the claim of a process that is gone",
                  storage_->root());
    // Move it away first: whoever moves a claim that is not the dead one puts
    // it back.
    const std::string aside =
        fmt::format("{}.{}.{}", index::kClaimKey, base::HostName(), getpid());
    try {
      storage_->Move(index::kClaimKey, aside);
    } catch (const IoError&) {
      continue;  // Another process was faster.
    }
    const auto moved = storage_->Read(aside);
    if (moved && moved->text() != text) {
      storage_->Move(aside, index::kClaimKey);
    } else {
      storage_->Remove(aside);
    }
  }
  return false;
}

bool RunFolder::IsAlive(const index::Claim& claim) const {
  if (claim.host == base::HostName()) {
    return base::ProcessStart(claim.pid) == claim.start;
  }
  const std::string key = index::LedgerKey(options_.worker);
  const auto text = storage_->Read(key);
  if (!text) return false;
  try {
    const double updated = index::ParseLedger(text->text(), key).updated;
    return base::WallSeconds() - updated <= kForeignSilenceSeconds;
  } catch (const FormatError&) {
    return false;  // Unreadable: as good as none.
  }
}

void RunFolder::SetAsideOldFiles() {
  std::vector<std::string> old;
  for (const std::string_view prefix : kRunPrefixes) {
    for (FileInfo& file : storage_->List(prefix)) {
      if (options_.num_workers == 1 || BelongsTo(options_.worker, file.key)) {
        old.push_back(std::move(file.key));
      }
    }
  }
  if (old.empty()) return;
  int64_t n = 1;
  const auto taken = [&] {
    const auto files =
        storage_->List(fmt::format("{}{}/", index::kPreviousPrefix, n));
    const size_t prefix =
        fmt::formatted_size("{}{}/", index::kPreviousPrefix, n);
    return std::ranges::any_of(files, [&](const FileInfo& file) {
      return options_.num_workers == 1 ||
             BelongsTo(options_.worker, file.key.substr(prefix));
    });
  };
  while (taken()) ++n;
  const std::string target = fmt::format("{}{}/", index::kPreviousPrefix, n);
  base::LogWarning(
      "{} holds an unfinished run; its {} files are now under {} inside it",
      storage_->root(), old.size(), target);
  for (const std::string& key : old) storage_->Move(key, target + key);
}

void RunFolder::WriteLedger(index::Ledger ledger) {
  ledger.worker = options_.worker;
  ledger.num_workers = options_.num_workers;
  ledger.job = options_.job;
  ledger.host = base::HostName();
  ledger.pid = getpid();
  ledger.started = started_;
  ledger.updated = base::WallSeconds();
  Put(index::LedgerKey(options_.worker), index::ToJson(ledger));
}

void RunFolder::Leave(index::Ledger ledger) {
  ledger.closed = true;
  WriteLedger(std::move(ledger));
  // Workers that close at the same time may each see all the others closed.
  if (!options_.managed && AllWorkersClosed()) {
    storage_->CreateExclusive(index::kEndMarkerKey, {});
  }
  GiveClaimBack();
}

void RunFolder::Abandon(index::Ledger ledger) {
  WriteLedger(std::move(ledger));
  GiveClaimBack();
}

void RunFolder::GiveClaimBack() {
  if (claimed_) storage_->Remove(index::kClaimKey);
  claimed_ = false;
}

bool RunFolder::AllWorkersClosed() const {
  // Each worker writes its own ledger before it looks at the others', so the
  // last one to close sees them all.
  if (options_.num_workers == 1) return true;
  int64_t closed = 0;
  for (const FileInfo& file : storage_->List("ledger/")) {
    const auto text = storage_->Read(file.key);
    if (!text) continue;
    try {
      const index::Ledger ledger = index::ParseLedger(text->text(), file.key);
      if (ledger.closed && ledger.job == options_.job) ++closed;
    } catch (const FormatError& error) {
      base::LogWarning("{}", error.what());
    }
  }
  return closed >= options_.num_workers;
}

void RunFolder::Put(std::string_view key, std::string_view text) {
  const auto file = storage_->Create(key);
  const Bytes parts[] = {base::AsBytes(text)};
  file->Append(parts);
  file->Publish();
}

}  // namespace smdebug::hook
