#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "smdebug/hook.h"
#include "smdebug/storage.h"
#include "src/index/claim.h"
#include "src/index/ledger.h"

namespace smdebug::hook {

// Identifies the job among those that used a folder, so that its workers
// recognise each other: SMDEBUG_JOB_ID, else the id that a launcher gave
// (TORCHELASTIC_RUN_ID, SLURM_JOB_ID, PMIX_NAMESPACE), else empty.
std::string JobId();

// A worker's right to write into a folder: who may enter, what happens to what
// lies there, and when the job has ended.
//
// One thread at a time. `storage` is borrowed and outlives the object.
class RunFolder {
 public:
  struct Options {
    std::string worker = {};
    int64_t num_workers = 1;  // That write.
    std::string job = {};
    bool managed = false;  // The platform writes the end marker.
  };

  RunFolder(Storage* storage, Options options);

  // Throws RunExistsError if the folder holds a finished run of another job,
  // IoError if it cannot be looked at. Changes nothing.
  void CheckUnused() const;

  // Makes the folder this worker's: a single worker claims it and moves the
  // files of an unfinished run to previous/<n>/; one of several moves only its
  // own. Returns false if another living process holds the claim; this one must
  // then write nothing. Throws IoError, and may be called again then.
  bool Enter();

  // Writes `ledger`, whose identity is filled in here. Throws IoError.
  void WriteLedger(index::Ledger ledger);

  // Writes the last `ledger`, gives the claim back, and writes the end marker
  // if every worker has closed. Throws IoError.
  void Leave(index::Ledger ledger);

  // The same for a job that has not ended: the run stays unfinished.
  void Abandon(index::Ledger ledger);

 private:
  bool Claim();
  bool IsAlive(const index::Claim& claim) const;
  void SetAsideOldFiles();
  bool AllWorkersClosed() const;
  void Put(std::string_view key, std::string_view text);
  void GiveClaimBack();

  Storage* const storage_;
  const Options options_;
  const double started_;
  bool claimed_ = false;
};

}  // namespace smdebug::hook
