#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "smdebug/rule.h"

namespace smdebug::rules {

// How far the evaluation of a rule has come. The names are SageMaker's.
enum class Status : uint8_t {
  kInProgress,
  kNoIssuesFound,
  kIssuesFound,
  kError,
  kStopped,
};

std::string_view StatusName(Status status) noexcept;

// What a rule has said about a run so far.
struct Report {
  std::string rule;  // As it was asked for.
  Status status = Status::kInProgress;
  std::string details = {};               // Why, for kError and kIssuesFound.
  std::vector<int64_t> fired_steps = {};  // In order, each once.
  std::vector<Finding> findings = {};     // The first kMostFindings.
  int64_t findings_total = 0;
  int64_t last_step = -1;  // The last one judged.

  static constexpr size_t kMostFindings = 100;

  // Adds what was found at one step.
  void Add(std::vector<Finding> found);
};

// One object, as `<run>/rules/<name>.json` and `smdebug check --json` have it.
std::string ToJson(const Report& report);

}  // namespace smdebug::rules
