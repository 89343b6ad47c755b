#include "src/actions/writers.h"

#include <algorithm>
#include <filesystem>
#include <optional>

#include "smdebug/error.h"
#include "src/base/host.h"
#include "src/base/log.h"
#include "src/run/presence.h"
#include "src/run/survey.h"

namespace smdebug::actions {
namespace {

// The process that the ledger names, if it lives here and shows that it writes
// the run. A ledger is a file, and may name anyone.
std::optional<base::ProcessId> FindWriter(const run::Ledger& ledger,
                                          const Storage& storage) {
  if (ledger.closed || ledger.pid <= 1 || ledger.host != base::HostName()) {
    return std::nullopt;
  }
  const auto process = base::FindProcess(static_cast<pid_t>(ledger.pid));
  if (!process || process->start != ledger.start) return std::nullopt;
  if (!run::IsPresent(ledger.pid,
                      run::PresenceName(storage, ledger.run, ledger.worker))) {
    base::LogWarning(
        "{}: the ledger of {} names process {}, which does not hold its place "
        "in the run",
        storage.root(), ledger.worker, ledger.pid);
    return std::nullopt;
  }
  return process;
}

}  // namespace

Writers FindWriters(const Storage& storage, const std::string& id) {
  const run::Survey survey = run::LookAt(storage);
  if (!survey.id.empty() && survey.id != id) {
    throw RunReplacedError(storage.root(), id, survey.id);
  }
  Writers writers;
  for (const run::Ledger& ledger : survey.ledgers) {
    const auto process = FindWriter(ledger, storage);
    if (!process) continue;
    if (std::ranges::find(writers.processes, *process) ==
        writers.processes.end()) {
      writers.processes.push_back(*process);
    }
    if (!ledger.job.empty() &&
        std::ranges::find(writers.jobs, ledger.job) == writers.jobs.end()) {
      writers.jobs.push_back(ledger.job);
    }
  }
  return writers;
}

bool IsNamed(const Writers& writers, std::string_view folder,
             std::string_view prefix) {
  const auto fits = [&](std::string_view name) {
    return name.starts_with(prefix);
  };
  const std::filesystem::path path =
      std::filesystem::absolute(std::filesystem::path(folder));
  return std::ranges::any_of(writers.jobs, fits) ||
         std::any_of(path.begin(), path.end(),
                     [&](const auto& part) { return fits(part.string()); });
}

}  // namespace smdebug::actions
