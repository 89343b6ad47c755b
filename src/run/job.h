#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace smdebug::run {

// What tells which job a process belongs to (docs/design/runs.md).
struct Job {
  // As the user or a launcher names it: SMDEBUG_JOB_ID, TORCHELASTIC_RUN_ID,
  // SLURM_JOB_ID or PMIX_NAMESPACE, whichever is first; else empty.
  std::string name = {};

  // Texts that the workers of one job may share: where they meet (MASTER_ADDR
  // and MASTER_PORT), and who has started them.
  std::vector<std::string> proofs = {};
};

// That of this process.
Job ThisJob();

// Whether process `pid` of this machine may be of the same job: by its name, a
// proof, or since one has started the other. By what its environment was when
// it started.
bool MayShareJob(int64_t pid);

// Whether one of the proofs is in both lists.
bool SharesProof(std::span<const std::string> a,
                 std::span<const std::string> b);

}  // namespace smdebug::run
