#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace smdebug::index {

// Who is writing a single-worker run: the content of `claim.smd` while the run
// is open. smdebug 1.0 leaves the file empty and looks only at its existence.
struct Claim {
  std::string host;
  int64_t pid = 0;
  uint64_t start = 0;  // base::ProcessStart(pid)

  friend bool operator==(const Claim&, const Claim&) = default;
};

std::string ToJson(const Claim& claim);

// nullopt for anything that is not such a claim.
std::optional<Claim> ParseClaim(std::string_view json);

}  // namespace smdebug::index
