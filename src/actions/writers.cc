#include "src/actions/writers.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>

#include "smdebug/error.h"
#include "smdebug/storage.h"
#include "src/base/host.h"
#include "src/base/log.h"
#include "src/index/claim.h"
#include "src/index/ledger.h"
#include "src/index/run_files.h"

namespace smdebug::actions {
namespace {

std::optional<index::Claim> ReadClaim(const Storage& run) {
  const auto blob = run.Read(index::kClaimKey);
  return blob ? index::ParseClaim(blob->text()) : std::nullopt;
}

std::optional<index::Ledger> ReadLedger(const Storage& run,
                                        const std::string& key) {
  const auto blob = run.Read(key);
  if (!blob) return std::nullopt;
  try {
    return index::ParseLedger(blob->text(), key);
  } catch (const FormatError& error) {
    base::LogWarning("{}", error.what());
    return std::nullopt;
  }
}

// The process that the ledger is of, if it lives here.
std::optional<base::ProcessId> FindWriter(
    const index::Ledger& ledger, const std::optional<index::Claim>& claim) {
  if (ledger.closed || ledger.pid <= 1 || ledger.host != base::HostName()) {
    return std::nullopt;
  }
  const auto process = base::FindProcess(static_cast<pid_t>(ledger.pid));
  if (!process) return std::nullopt;
  if (claim && claim->host == ledger.host && claim->pid == ledger.pid) {
    return claim->start == process->start ? process : std::nullopt;
  }
  // The system tells when a process began to about a second.
  constexpr double kSlack = 2;
  if (base::StartedAt(*process) > ledger.started + kSlack) return std::nullopt;
  return process;
}

}  // namespace

Writers FindWriters(const std::string& folder) {
  const std::shared_ptr<Storage> run = OpenStorage(folder);
  const auto claim = ReadClaim(*run);
  Writers writers;
  for (const FileInfo& file : run->List("ledger/")) {
    const auto ledger = ReadLedger(*run, file.key);
    if (!ledger) continue;
    const auto process = FindWriter(*ledger, claim);
    if (!process) continue;
    if (std::ranges::find(writers.processes, *process) ==
        writers.processes.end()) {
      writers.processes.push_back(*process);
    }
    if (!ledger->job.empty() &&
        std::ranges::find(writers.jobs, ledger->job) == writers.jobs.end()) {
      writers.jobs.push_back(ledger->job);
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
