#include "src/run/entering.h"

#include <sys/socket.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>

#include "src/base/fork.h"
#include "src/run/job.h"
#include "src/run/presence.h"

namespace smdebug::run {
namespace {

// The folder need not be there yet, and may have come when the next one asks.
std::string NameOf(const Storage& storage) {
  std::string place = storage.root();
  if (place.find("://") == std::string::npos) {
    std::error_code code;
    const auto path = std::filesystem::weakly_canonical(
        std::filesystem::absolute(place, code), code);
    if (!code) place = path.string();
  }
  return NameFor({place, "entering"});
}

}  // namespace

Entering::Entering(const Storage& storage)
    : fork_generation_(base::ForkGeneration()) {
  const std::string name = NameOf(storage);
  sign_ = Presence(name).Share();
  if (sign_.valid()) {
    if (listen(sign_.get(), SOMAXCONN) != 0) sign_.Close();
    return;
  }
  const auto line = Connect(name);
  if (line && line->pid != getpid() && !MayShareJob(line->pid)) {
    other_ = line->pid;
  }
}

Entering::~Entering() {
  const bool is_own = base::ForkGeneration() == fork_generation_;
  // Children that were forked meanwhile have the sign, too.
  if (is_own && sign_.valid()) shutdown(sign_.get(), SHUT_RDWR);
}

std::optional<base::ProcessId> FindEntering(const Storage& storage) {
  const auto line = Connect(NameOf(storage));
  if (!line) return std::nullopt;
  return base::FindProcess(static_cast<pid_t>(line->pid));
}

bool IsEntering(const Storage& storage, const base::ProcessId& process) {
  return base::FindProcess(process.pid) == process &&
         IsPresent(process.pid, NameOf(storage));
}

}  // namespace smdebug::run
