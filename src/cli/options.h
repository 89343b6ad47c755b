#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "smdebug/mode.h"
#include "smdebug/reduction.h"

namespace CLI {  // NOLINT(readability-identifier-naming): CLI11's name.
class App;
class Option;
}  // namespace CLI

// Options that several commands share, declared in one place so that they are
// spelt, read and explained alike. Each is bound to the variable given, which
// outlives the app. One thread at a time.
namespace smdebug::cli {

void AddRun(CLI::App& app, std::string& run);

// One run or several, and a tensor of theirs.
struct RunsAndTensor {
  std::vector<std::string> runs = {};
  std::string tensor = {};
};

// `<run>... <tensor>`, or `<run>... --tensor NAME`. `tensor` describes it.
void AddRunsAndTensor(CLI::App& app, RunsAndTensor& target,
                      const std::string& tensor);

void AddJson(CLI::App& app, bool& json);
void AddMode(CLI::App& app, Mode& mode);
void AddWorker(CLI::App& app, std::optional<std::string>& worker);
void AddRegex(CLI::App& app, std::vector<std::string>& regexes);
// The same under another name, with its description.
void AddRegex(CLI::App& app, const std::string& name,
              std::vector<std::string>& regexes,
              const std::string& description);
void AddAscii(CLI::App& app, bool& ascii);

// A whole number of 0 or more. With `or_last`, also the word "last", which is
// the same as leaving it out.
void AddStep(CLI::App& app, std::optional<int64_t>& step, bool or_last);

// Names of reductions, separated by commas or given several times.
void AddReductions(CLI::App& app, std::vector<Reduction>& reductions,
                   const std::string& description);

// A number of seconds, 0 or more.
void AddSeconds(CLI::App& app, const std::string& name,
                std::optional<double>& seconds, const std::string& description);

// --wait-for-run; what `seconds` is before is the default.
void AddWaitForRun(CLI::App& app, double& seconds);

// A number, 0 or more.
void AddTolerance(CLI::App& app, const std::string& name, double& tolerance,
                  const std::string& description);

// Whole numbers that an option takes, both ends included.
struct WholeNumbers {
  int64_t least = 0;
  int64_t most = std::numeric_limits<int64_t>::max();
};

// One of `allowed`, which is handed to `set`.
CLI::Option* AddWhole(CLI::App& app, const std::string& name,
                      WholeNumbers allowed, std::function<void(int64_t)> set,
                      const std::string& description);

}  // namespace smdebug::cli
