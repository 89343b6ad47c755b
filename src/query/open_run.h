#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "smdebug/error.h"
#include "smdebug/query.h"
#include "smdebug/storage.h"
#include "smdebug/trial.h"

// How every front gets at a run. Whatever is wrong is one clear sentence,
// thrown as Error.
namespace smdebug::query {

// The folder at `run`, whatever it holds. Throws Error if there is none.
std::shared_ptr<Storage> OpenFolder(const std::string& run);

using OnWait = std::function<void(const std::string& root)>;

// The run that was awaited does not come.
class NoRunError final : public Error {
 public:
  using Error::Error;
};

// How long to wait for a run, in seconds, unless told otherwise.
inline constexpr double kRunPatience = 600;

// The folder at `run`, as soon as it holds any file of a run. Tells `waits`,
// once and with the root of the store, that it has to wait. Null if `go_on`,
// which is asked a few times a second, says no. Throws Error if it can never be
// a folder, and NoRunError if no run appears within `patience` seconds. A job
// of this machine that has a hook on the folder and has not begun is waited for
// as long as it lives; NoRunError if it ends like that.
std::shared_ptr<Storage> AwaitRunFolder(const std::string& run,
                                        const OnWait& waits,
                                        const std::function<bool()>& go_on,
                                        double patience = kRunPatience);

// How runs are opened runs to look at them: without waiting for anything.
TrialOptions RunOptions();

// The run at `run` as it is now: it is looked at once, and stays as it was
// then. Throws Error if there is none.
std::unique_ptr<Trial> OpenRun(const std::string& run,
                               const TrialOptions& options = RunOptions());
std::unique_ptr<Trial> OpenRun(std::shared_ptr<Storage> storage,
                               const TrialOptions& options = RunOptions());

// As Trial::tensor(). Throws Error, with near names, if there is none.
Tensor RequireTensor(Trial& trial, std::string_view name);

// `step`, or the last of `steps` if it is unset. Throws Error, naming the
// nearest ones, if it is not among `steps`, which are those of `what` in `mode`
// and rise.
int64_t RequireStep(const std::vector<int64_t>& steps,
                    std::optional<int64_t> step, Mode mode,
                    std::string_view what);

// Throws Error, naming the modes there are, if none of `trials` has a step of
// `mode`, complete or not.
void RequireMode(std::span<Trial* const> trials, Mode mode);

// Throws Error, naming tensors there are, if `names` are some and none of
// `regexes`, which are some, matches one of them.
void RequireMatch(const std::vector<std::string>& names,
                  std::span<const std::string> regexes);

// Throws Error, naming the damage, if the index of that step is damaged; for
// those who have not found the step. One counted within a mode is not known.
void RequireReadable(const Trial& trial, std::optional<int64_t> step,
                     Mode mode);

// Throws Error as RequireStep() does if `step` is set and nothing was saved at
// it, not even a scalar.
void RequireRunStep(Trial& trial, std::optional<int64_t> step, Mode mode,
                    bool include_incomplete);

// Throws Error, naming the ones there are, if no such worker wrote in the run.
void RequireWorker(Trial& trial, const std::optional<std::string>& worker);

// Of step `step` of `mode`, which is known.
StepId IdentifyStep(Trial& trial, int64_t step, Mode mode);

}  // namespace smdebug::query
