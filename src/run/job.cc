#include "src/run/job.h"

#include <unistd.h>

#include <algorithm>
#include <functional>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "src/base/environment.h"
#include "src/base/host.h"

namespace smdebug::run {
namespace {

// What a variable of a process is; empty if it is not set.
using TextOf = std::function<std::string(const char* variable)>;

std::string JobName(const TextOf& text_of) {
  for (const char* variable : {"SMDEBUG_JOB_ID", "TORCHELASTIC_RUN_ID",
                               "SLURM_JOB_ID", "PMIX_NAMESPACE"}) {
    std::string name = text_of(variable);
    // What torchrun sets unless it is told a name: the same for every job.
    const bool is_default =
        name == "none" && std::string_view(variable) == "TORCHELASTIC_RUN_ID";
    if (!name.empty() && !is_default) return name;
  }
  return {};
}

bool IsLoopback(std::string_view address) {
  return address == "localhost" || address == "::1" ||
         address.starts_with("127.");
}

// Where the workers meet; empty if nobody says.
std::string Rendezvous(const TextOf& text_of) {
  const std::string address = text_of("MASTER_ADDR");
  const std::string port = text_of("MASTER_PORT");
  if (address.empty() || port.empty()) return {};
  // Each machine has a loopback address of its own.
  return fmt::format("{}{}:{}",
                     IsLoopback(address) ? base::HostName() + " " : "", address,
                     port);
}

bool IsInContainer() {
  // The number that Linux gives the processes of the machine itself.
  return !base::MachineId().ends_with("pid:[4026531836]");
}

Job JobFrom(const TextOf& text_of, int64_t parent) {
  Job job = {.name = JobName(text_of)};
  if (std::string place = Rendezvous(text_of); !place.empty()) {
    job.proofs.push_back("rendezvous " + place);
  }
  // Orphans have the first process of the machine for a parent; in a container
  // the first process is a launcher as any other.
  if (parent > 1 || IsInContainer()) {
    job.proofs.push_back(fmt::format("parent {} {} {}", base::HostName(),
                                     parent, base::ProcessStart(parent)));
  }
  return job;
}

// Whether `pid` is among those by which `child` was started.
bool IsAncestor(int64_t pid, int64_t child) {
  auto status = base::FindProcessStatus(child);
  while (status && status->parent > 1 && status->parent != pid) {
    status = base::FindProcessStatus(status->parent);
  }
  return status && status->parent == pid;
}

}  // namespace

Job ThisJob() {
  return JobFrom(
      [](const char* variable) { return base::GetEnv(variable).value_or(""); },
      getppid());
}

bool MayShareJob(int64_t pid) {
  const auto status = base::FindProcessStatus(pid);
  if (!status) return false;
  const Job own = ThisJob();
  const Job other = JobFrom(
      [pid](const char* variable) {
        return base::GetEnvOf(pid, variable).value_or("");
      },
      status->parent);
  return (!own.name.empty() && own.name == other.name) ||
         SharesProof(own.proofs, other.proofs) || IsAncestor(pid, getpid()) ||
         IsAncestor(getpid(), pid);
}

bool SharesProof(std::span<const std::string> a,
                 std::span<const std::string> b) {
  return std::ranges::any_of(a, [&](const std::string& proof) {
    return std::ranges::find(b, proof) != b.end();
  });
}

}  // namespace smdebug::run
