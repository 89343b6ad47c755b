#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "smdebug/storage.h"
#include "src/base/process.h"

namespace smdebug::actions {

// Who writes a run.
struct Writers {
  std::vector<base::ProcessId> processes;  // Living, on this machine.
  // Names of the jobs they belong to, each once; without those that have none.
  std::vector<std::string> jobs;
};

// Those that the ledgers of run `id` in `storage` name and that hold their
// place in it (run::Presence), as the kernel tells: neither what a file claims
// alone counts, nor a number that was given again, nor a worker that has
// closed. Throws IoError if the run cannot be read, and RunReplacedError if the
// folder holds another one.
Writers FindWriters(const Storage& storage, const std::string& id);

// Whether a job that writes to `folder` may be meant by `prefix`: the name of
// a job, or of a folder on the way to the run, begins with it.
bool IsNamed(const Writers& writers, std::string_view folder,
             std::string_view prefix);

}  // namespace smdebug::actions
