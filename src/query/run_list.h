#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "smdebug/error.h"
#include "smdebug/run.h"
#include "src/query/json.h"

namespace smdebug::query {

// The newest number of a loss.
struct LastLoss {
  std::string tensor;
  int64_t step = 0;  // Over all modes.
  double value = 0;
};

// A run among others, at one glance.
struct ListedRun {
  std::string name;         // Of its folder.
  std::string run;          // The root of its store.
  std::string unread = {};  // Why it cannot be read; the rest is unset then.
  RunInfo info = {};
  int64_t steps = 0;  // Saved by at least one worker.
  int64_t last_step = -1;
  std::optional<LastLoss> loss = {};
  std::vector<std::string> fired = {};   // Rules that found issues, by name.
  std::vector<std::string> failed = {};  // Those that could not judge.
  std::vector<Damage> damage = {};       // Met on the way.
};

// The runs among the folders right below one.
struct RunList {
  std::string folder;
  std::vector<ListedRun> runs = {};  // By name.
  int64_t others = 0;                // Folders that hold no run.
  int64_t unmatched = 0;             // Folders that the pattern leaves out.
};

// The loss is a tensor of the collection "losses", or else one with "loss" in
// its name: that with the newest number, and of several the first by name. A
// run that is damaged is listed with what is wrong with it. Where `pattern` is
// not empty, only runs whose name it matches (MatchesPattern()). Throws Error
// if `folder`, a local path, cannot be listed.
RunList ListRuns(const std::string& folder, std::string_view pattern = {});

// As `smdebug ls --json` has it (docs/reference/cli.md).
Json ToJson(const RunList& list);

}  // namespace smdebug::query
