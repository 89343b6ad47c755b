#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "smdebug/invoker.h"

namespace smdebug::cli {

class PythonChild;
struct JudgeOptions;

// The rules that classes of Python files define, each in a process of its own.
// To the invoker they are rules like others. One thread at a time.
class PythonRules {
 public:
  // Loads those of `evaluations` that are of files; while it waits for them,
  // `go_on` is asked about ten times a second. Throws Error, with the reason,
  // if a class cannot be had or does not take the parameters, and
  // rules::Interrupted if go_on() says so.
  PythonRules(std::span<const RuleEvaluation> evaluations,
              const JudgeOptions& options, const std::function<bool()>& go_on);
  ~PythonRules();

  PythonRules(const PythonRules&) = delete;
  PythonRules& operator=(const PythonRules&) = delete;

  // Adds all of them to `invoker`, which this object outlives, in their order.
  // `evaluations` are those of the constructor.
  void AddAll(std::vector<RuleEvaluation> evaluations, Invoker& invoker) const;

 private:
  std::vector<RuleType> types_;  // Parallel; without `make` for built-in ones.
};

}  // namespace smdebug::cli
