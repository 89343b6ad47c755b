#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "smdebug/run.h"
#include "smdebug/storage.h"
#include "src/run/claim.h"
#include "src/run/job.h"
#include "src/run/ledger.h"
#include "src/run/presence.h"
#include "src/run/survey.h"

namespace smdebug::run {

// How a worker came into a folder.
enum class Entered : uint8_t {
  kNew,        // It is the first of a new run.
  kJoined,     // Another worker of its job has begun the run.
  kContinued,  // An earlier process of its job has.
};

// A worker's place in the run of a folder: who may enter, what happens to what
// lies there, and when the run has ended. docs/design/runs.md has the reasons.
//
// One thread at a time.
class RunFolder {
 public:
  struct Options {
    std::string worker = {};
    int64_t num_workers = 1;  // That write.
    Job job = {};
    std::string run_id = {};  // Handed down by a launcher; empty: none.
    bool managed = false;     // The platform writes the end marker.
  };

  RunFolder(std::shared_ptr<Storage> storage, Options options);
  // Gives the place back if it was not left.
  ~RunFolder();
  RunFolder(const RunFolder&) = delete;
  RunFolder& operator=(const RunFolder&) = delete;

  // Throws what Enter() would throw as things are now: RunExistsError for a
  // finished run, RunBusyError for one that others write, IoError for a store
  // that cannot be read or written. Changes nothing.
  void CheckEnterable() const;

  // Makes the folder this worker's. The first worker of a run moves what lies
  // there of an unfinished, failed or killed run to previous/<n>/. Throws as
  // CheckEnterable(), and may be called again then.
  Entered Enter();

  // The identity of the run, once entered.
  const std::string& run_id() const noexcept { return run_id_; }

  // How others on this machine reach this worker, once entered.
  const Presence& presence() const noexcept { return presence_; }

  // Writes `ledger`, whose identity is filled in here. Throws IoError.
  void WriteLedger(Ledger ledger);

  // Writes the last `ledger` and, if every worker has closed, the end marker,
  // and gives the place back. Throws IoError.
  void Leave(Ledger ledger, Ending ending, std::string_view reason = {});

  // The same for a job that starts over: without a marker, so that the next one
  // to enter sets the run aside.
  void Abandon(Ledger ledger);

 private:
  // What is to be done about what lies in the folder.
  struct Plan {
    bool join = false;
    bool wait = false;  // Another worker of the job prepares the folder.
    std::string moving =
        {};  // Where what lies there goes; empty: nothing does.
  };

  // Throws as CheckEnterable(), except for the last.
  Plan MakePlan(const Survey& survey) const;
  // Whether a worker of this job has begun the run that is being written.
  bool IsOfThisJob(const Survey& survey) const;
  // Whether workers of this job that have closed were so fast that this one
  // comes after them.
  bool IsAwaited(const Survey& survey) const;
  // Whether the run that has ended was of this job, by its name alone.
  bool WasOfThisJob(const Survey& survey) const;
  bool HasOldFiles() const;
  // How many runs lie below previous/.
  int64_t CountPrevious() const;
  void CheckWorkerIsFree(const Survey& survey) const;
  void CheckWritable() const;
  // Throws IoError if a run cannot be moved to where runs were moved before.
  void CheckMovable(const Plan& plan) const;
  // Takes some room in the store, until the file is destroyed. Throws IoError.
  std::unique_ptr<PendingFile> MakeReserve(const std::string& key) const;
  // What comes first once the folder is this worker's.
  void Begin();
  // Nothing if the run of `survey` is no longer that of the folder.
  std::optional<Entered> TryToJoin(const Survey& survey);
  // False if the claim is no longer that of `run`; else nobody who has not seen
  // this worker's ledger can take it.
  bool KeepClaim(std::string_view run);
  // For a run that another has taken the folder from.
  void StepBack();
  [[noreturn]] void RefuseAsTaken() const;
  // False if another process was faster.
  bool TakeClaim(const std::optional<VersionedText>& found,
                 const std::string& moving);
  void SetAside(const std::string& target, RunState state);
  // Moves what an earlier process of this worker wrote; tells whether it did.
  bool SetAsideOwnFiles();
  void FinishOwnMoves(const std::string& target);
  void MoveFilesOf(std::string_view worker, const std::string& target);
  std::vector<std::string> FilesOf(std::string_view worker) const;
  std::optional<Ledger> FindLedger(std::string_view worker) const;
  void AwaitChange() const;
  Claim OwnClaim() const;
  void FillIn(Ledger& ledger) const;
  bool AllWorkersClosed() const;
  void Put(std::string_view key, std::string_view text);
  // Whether other workers of this run have not closed.
  bool OthersWrite() const;
  void GiveUpClaim();

  const std::shared_ptr<Storage> storage_;
  const Options options_;
  const double started_;
  std::string run_id_;
  Presence presence_;
  // So that on a full disk the run can still tell what was lost.
  std::unique_ptr<PendingFile> reserve_;
  bool entered_ = false;
};

}  // namespace smdebug::run
