#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "smdebug/trial.h"
#include "src/query/json.h"

namespace smdebug::query {

// Which tensors to list; every filter that is set must let a tensor pass.
struct TensorQuery {
  Mode mode = Mode::kGlobal;
  std::optional<int64_t> step = {};  // Of `mode`.
  std::string pattern = {};          // See MatchesPattern().
  std::vector<std::string> regexes = {};
  std::optional<std::string> collection = {};
};

// One tensor of a run at a glance.
struct TensorInfo {
  std::string name;
  std::vector<std::string> collections = {};
  // Over all steps, or at the one step asked for.
  Tensor::Saved saved = {};
  int64_t steps = 0;
  int64_t first_step = 0;
  int64_t last_step = 0;
  // At the last step that tells; unset where the run does not.
  std::optional<DType> dtype = {};
  std::optional<std::vector<int64_t>> shape = {};
};

// The tensors that `query` leaves, by name. Reads one value of each at most.
// Throws Error for a step or a collection that the run does not have.
std::vector<TensorInfo> ListTensors(Trial& trial, const TensorQuery& query);

// One of `smdebug ls --json` (docs/reference/cli.md).
Json ToJson(const TensorInfo& tensor);

// "value, 3 reductions", "abs_max, mean", "shape".
std::string SavedText(const Tensor::Saved& saved);

}  // namespace smdebug::query
