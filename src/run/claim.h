#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace smdebug::run {

// Who has entered a folder first, for which run: the content of `claim.smd`
// while the run is open. smdebug 1.0 leaves the file empty and looks only at
// its existence.
struct Claim {
  std::string run = {};  // The run's identity; empty in older claims.
  std::string worker = {};
  int64_t num_workers = 1;
  std::string job = {};                  // Job::name
  std::vector<std::string> proofs = {};  // Job::proofs
  std::string host = {};
  std::string machine = {};  // base::MachineId()
  int64_t pid = 0;
  uint64_t start = 0;  // base::ProcessStart(pid)
  double claimed = 0;  // Seconds since the epoch.
  // Where the run before is being moved to; the new one has not begun then.
  std::string moving = {};

  friend bool operator==(const Claim&, const Claim&) = default;
};

std::string ToJson(const Claim& claim);

// nullopt for anything that is not such a claim.
std::optional<Claim> ParseClaim(std::string_view json);

}  // namespace smdebug::run
