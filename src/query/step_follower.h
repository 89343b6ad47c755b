#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "smdebug/trial.h"
#include "src/query/json.h"
#include "src/query/open_run.h"

namespace smdebug::query {

// One number beside a step.
struct StepNumber {
  std::string name;  // "<tensor>", or "<tensor>:mean".
  int64_t step = 0;  // Global, of the line.
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
// the numbers that were saved there. Steps at which nothing but scalars was
// saved are steps, too.
//
// A number is the element of a tensor that has one. If there are patterns, only
// tensors that match count, and those of several elements by their mean.
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

  // Whether any tensor met so far is one whose numbers are shown.
  bool watches_any() const noexcept { return !watched_.empty(); }

 private:
  // How a tensor is shown.
  enum class Kind { kUnknown, kNumber, kMany };
  struct Watched {
    Kind kind = Kind::kUnknown;
    std::vector<int64_t> steps = {};
  };

  std::vector<int64_t> NewSteps();
  // Those that are complete, beside steps that are saved whole.
  void AddStepsOfScalars(std::vector<int64_t>& steps) const;
  void LookAtTensors();
  StepLine MakeLine(int64_t step);
  void AddNumber(const std::string& name, Watched& watched, int64_t step,
                 StepLine& line);

  Trial* const trial_;
  const Options options_;
  std::map<std::string, Watched> watched_;
  std::optional<int64_t> previous_;  // The last step given.
  // What was known of the run when steps were last looked for.
  std::optional<std::tuple<size_t, int64_t, bool>> looked_at_;
};

}  // namespace smdebug::query
