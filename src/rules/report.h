#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "smdebug/rule.h"

namespace smdebug::rules {

// How far the evaluation of a rule has come. The names are SageMaker's.
enum class Status : uint8_t {
  kInProgress,
  kNoIssuesFound,
  kIssuesFound,  // Also while it goes on, from the first finding on.
  kError,
  kStopped,
};

std::string_view StatusName(Status status) noexcept;

// What a rule has said about a run so far.
struct Report {
  std::string name;       // As `<run>/rules/` and the caller know it.
  std::string rule = {};  // The rule with its parameters.
  Status status = Status::kInProgress;
  std::string details = {};               // Why, for kError and kIssuesFound.
  std::vector<int64_t> fired_steps = {};  // In order, each once.
  std::vector<Finding> findings = {};     // The first kMostFindings.
  int64_t findings_total = 0;
  int64_t steps_judged = 0;
  int64_t last_step = -1;  // The last one judged.
  bool ended = false;      // Whether every step was judged.
  // Steps that could not be read, and what was wrong with the first.
  int64_t unreadable_steps = 0;
  std::string unreadable = {};

  static constexpr size_t kMostFindings = 100;

  // Adds what was found at one step.
  void Add(std::vector<Finding> found);
};

// One object on one line, as `smdebug check --json` and `<run>/rules/` have it:
// name, rule, status, details, fired_steps, findings_total, findings,
// steps_judged, last_step and ended.
std::string ToJson(const Report& report);

}  // namespace smdebug::rules
