#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "smdebug/error.h"
#include "smdebug/storage.h"
#include "src/query/json.h"

namespace smdebug::query {

// What a rule has said about a run, as it is kept in `<run>/rules/`.
struct RuleResult {
  std::string name;
  std::string status;  // As StatusName() has it.
  std::string details = {};
  int64_t findings_total = 0;
  bool refused = false;  // As RuleReport has it.
  Json report = {};  // The whole of it (docs/reference/cli.md, `check --json`).
};

struct RuleResults {
  std::vector<RuleResult> rules = {};  // By name.
  std::vector<Damage> damage = {};     // Reports that cannot be read.
};

// Reads every report about the run with this identity; those about another run,
// which was in the folder before, are passed over. Throws IoError.
RuleResults ReadRuleResults(const Storage& storage, std::string_view run);

// `rules`, the reports, and `damage`, a list of `file` and `reason`.
Json ToJson(const RuleResults& results);

}  // namespace smdebug::query
