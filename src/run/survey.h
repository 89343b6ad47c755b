#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "smdebug/error.h"
#include "smdebug/run.h"
#include "smdebug/storage.h"
#include "src/run/claim.h"
#include "src/run/ledger.h"

namespace smdebug::run {

// What `training_job_end.ts` tells. Runs of smdebug 1.0, and those whose
// marker a platform writes, have an empty one: no id, and finished.
struct EndMarker {
  std::string run = {};
  Ending ending = Ending::kFinished;
  std::string reason = {};
  std::string damage = {};  // Why none of that can be read; empty if it can.
};

std::string ToJson(const EndMarker& marker);
// Of any content whatever.
EndMarker ParseEndMarker(std::string_view text);

// "finished" and so on; nullopt for any other text.
std::optional<Ending> ParseEnding(std::string_view text) noexcept;

// Everything by which a run tells of itself, its steps aside, at one time.
struct Survey {
  std::string id = {};  // The run's identity; empty if it has none.
  std::optional<Claim> claim = {};
  std::optional<EndMarker> marker = {};
  std::vector<Ledger> ledgers = {};  // Of this run, by worker.
  // Ledgers that cannot be read, and the marker.
  std::vector<Damage> damage = {};
  RunInfo info = {};  // What all this amounts to.

  // Whether nothing of the run is there yet: what lies in the folder is of the
  // one before.
  bool is_starting() const { return claim && !claim->moving.empty(); }
};

// The claim of the folder; nullopt if there is none that can be read. Throws
// IoError.
std::optional<Claim> ReadClaim(const Storage& storage);

// Throws IoError.
Survey LookAt(const Storage& storage);

// The same without the ledgers, for those who only ask whose run it is: the id
// comes from the claim or the marker, and from one ledger only if there is
// neither. Throws IoError.
std::string IdentityOf(const Storage& storage);

// Throws RunReplacedError if the folder holds another run than `id` now; one
// that was emptied tells nothing. Throws IoError.
void RequireRun(const Storage& storage, const std::string& id);

// The same for those who have read the run: also throws if there is none any
// more. Throws IoError.
void RequireRunStill(const Storage& storage, const std::string& id);

// The same for those who are about to write into the folder, which must not
// make it anew: also throws IoError if it holds no run.
void RequireRunToWrite(const Storage& storage, const std::string& id);

// Whether there is any file of a run, finished or not, that is not just being
// set aside. Throws IoError.
bool HoldsRun(const Storage& storage);

// Why HoldsRun() is false, for people. Throws IoError.
std::string WhyNoRun(const Storage& storage);

// Where to look instead of in `root`, a folder that holds no run, if folders
// right below it do: "`smdebug ls runs` lists the 3 runs in it". Empty if none
// does, or for a store that is no local folder.
std::string HintAtRunsBelow(const std::string& root);

// Why a run that can be read has not appeared yet, for people; `found` is how
// many of its collections files are there, as "0 of 1".
std::string WhatIsAwaited(const Survey& survey, std::string_view found);

// Whether this very process made the claim.
bool IsOwn(const Claim& claim);

// Whether everybody who writes the run is a process that this one can see, so
// that its info knows and does not guess.
bool IsOfThisMachine(const Survey& survey);

// The worst that the workers that have closed say, and the first reason.
EndMarker LastWordOf(const Survey& survey);

// Whether the process that wrote it lives, as far as this one can know: on
// another machine it counts as gone when it has been silent for five minutes.
bool IsAlive(const Claim& claim);
bool IsAlive(const Ledger& ledger);

// A living process that writes the run; nullptr if there is none.
const Ledger* FindWriter(const Survey& survey);

// Which steps of a worker whose last word this is are missing, of which `there`
// are there, for people; empty if none are.
std::string MissingSteps(const Survey& survey, const Ledger& ledger,
                         int64_t there);

// Whether a file or an identity says that the run was not written by smdebug
// 1.0, and so has a ledger of each worker.
bool KeepsLedgers(const Survey& survey);

// What is wrong with the ledger of a worker, by its name in files, that has
// saved steps of a run that keeps ledgers; nullopt if nothing is.
std::optional<Damage> LedgerDamage(const Survey& survey,
                                   std::string_view worker);

// Whether a worker, by its name in files, has said that it is done, and all
// that it wrote should be there; without a ledger of it, as in smdebug 1.0,
// whether the run is done.
bool HasLeft(const Survey& survey, std::string_view worker);

}  // namespace smdebug::run
