#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "smdebug/trial.h"
#include "src/query/json.h"
#include "src/query/open_run.h"

namespace smdebug::query {

// One number beside a step.
struct StepNumber {
  std::string name;  // "<tensor>", or "<tensor>:mean".
  int64_t step = 0;  // Global: this step, or a later one than the line before.
  double value = 0;
};

// One step that has become complete.
struct StepLine {
  StepId id;
  std::vector<std::string> workers = {};
  int64_t tensors = 0;
  std::vector<StepNumber> numbers = {};
};

// A line of `smdebug tail --json` (docs/reference/cli.md).
Json ToJson(const StepLine& line);

// Gives the steps of a run one after the other as they become complete, with
// the numbers that were saved there.
//
// A number is the element of a tensor that has one; scalars of steps without
// files stand at the next step that has. If there are patterns, only tensors
// that match count, and those of several elements by their mean.
//
// Borrows the trial. One thread at a time.
class StepFollower {
 public:
  struct Options {
    std::optional<int64_t> from = {};  // First global step to give.
    int64_t last = 10;  // Without `from`: so many of what is there at first.
    std::vector<std::string> regexes = {};
  };

  StepFollower(Trial* trial, Options options);

  // What is new since the last call. Throws ConfigError for a bad pattern.
  std::vector<StepLine> Poll();

 private:
  // How a tensor is shown.
  enum class Kind { kUnknown, kNumber, kMany };
  struct Watched {
    Kind kind = Kind::kUnknown;
    std::vector<int64_t> steps = {};
  };

  std::vector<int64_t> NewSteps();
  void LookAtTensors();
  StepLine MakeLine(int64_t step);
  void AddNumber(const std::string& name, Watched& watched, int64_t step,
                 StepLine& line);

  Trial* const trial_;
  const Options options_;
  std::map<std::string, Watched> watched_;
  std::optional<int64_t> previous_;  // The last step given.
};

}  // namespace smdebug::query
