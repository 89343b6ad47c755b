#include "src/run/job.h"

#include <unistd.h>

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "src/base/environment.h"
#include "src/base/host.h"

namespace smdebug::run {
namespace {

std::string TextOf(const char* variable) {
  return base::GetEnv(variable).value_or("");
}

std::string JobName() {
  for (const char* variable : {"SMDEBUG_JOB_ID", "TORCHELASTIC_RUN_ID",
                               "SLURM_JOB_ID", "PMIX_NAMESPACE"}) {
    std::string name = TextOf(variable);
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
std::string Rendezvous() {
  const std::string address = TextOf("MASTER_ADDR");
  const std::string port = TextOf("MASTER_PORT");
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

}  // namespace

Job ThisJob() {
  Job job = {.name = JobName()};
  if (std::string place = Rendezvous(); !place.empty()) {
    job.proofs.push_back("rendezvous " + place);
  }
  // Orphans have the first process of the machine for a parent; in a container
  // the first process is a launcher as any other.
  if (const pid_t parent = getppid(); parent > 1 || IsInContainer()) {
    job.proofs.push_back(fmt::format("parent {} {} {}", base::HostName(),
                                     parent, base::ProcessStart(parent)));
  }
  return job;
}

bool SharesProof(std::span<const std::string> a,
                 std::span<const std::string> b) {
  return std::ranges::any_of(a, [&](const std::string& proof) {
    return std::ranges::find(b, proof) != b.end();
  });
}

}  // namespace smdebug::run
