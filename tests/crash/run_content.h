#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "smdebug/storage.h"

namespace smdebug::testing {

// What a victim's run holds, as a whole.
struct RunContent {
  std::optional<int64_t> tag = {};  // Unset without steps.
  std::map<std::string, std::vector<int64_t>> steps = {};  // By worker.

  friend bool operator==(const RunContent&, const RunContent&) = default;
};

// Reads every value of the run in `storage`, and expects that all are right and
// of one tag, and that the steps of each worker go from 0 up without a gap.
RunContent ReadContent(const Storage& storage);

// Whether a store holds any file of a run but a claim.
bool HasRunFiles(const Storage& storage);

// Expects of a folder in which nobody is alive that everybody who asks gets an
// answer: its state, its summary, its verification, which find no damage, and a
// trial, which opens or is refused.
void ExpectAnswers(const std::shared_ptr<Storage>& storage);

// previous/<n> of the run at `out_dir`.
std::shared_ptr<Storage> OpenPrevious(const std::string& out_dir, int64_t n);

}  // namespace smdebug::testing
