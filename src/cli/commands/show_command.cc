#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <ostream>
#include <string>
#include <utility>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "src/base/text.h"
#include "src/cli/command.h"
#include "src/cli/options.h"
#include "src/cli/output/json_output.h"
#include "src/cli/output/tensor_report_text.h"
#include "src/cli/output/text.h"
#include "src/query/open_run.h"
#include "src/query/tensor_report.h"

namespace smdebug::cli {
namespace {

// `smdebug show <run>... <tensor>`: one tensor at one step.
class ShowCommand final : public Command {
 public:
  std::string_view name() const override { return "show"; }
  std::string_view summary() const override {
    return "Show one tensor at one step: statistics, histogram, values.";
  }
  std::string_view examples() const override {
    return "  smdebug show ./run fc.weight\n"
           "  smdebug show ./run fc.weight --step 100 --mode train\n"
           "  smdebug show ./run fc.weight --worker worker_1 --values all\n"
           "  smdebug show ./before ./after fc.weight --step 100\n"
           "  smdebug show ./run loss --json | jq .statistics.mean\n";
  }
  std::vector<ExitCode> exit_codes() const override {
    return {{kExitOk, "it was shown, of at least one of the runs"},
            {kExitError,
             "no such run, tensor, step or worker, or the value is "
             "damaged"}};
  }
  std::string_view details() const override {
    return R"(Statistics are of the finite values, so that one NaN does not hide the rest; NaN and infinities are counted beside them. `std` is that of the population.
Where only reductions were saved, those are shown, with the counts that smdebug 2 keeps beside them.

JSON: `tensor`, `step`, `mode`, `mode_step`, `worker`, `dtype`, `shape`; `statistics` (null without a value of numbers): `count`, `zero`, `nan`, `pos_inf`,
`neg_inf`, `min`, `max`, `mean`, `std`, `l2`; `counts`: the same five counts where only reductions were saved; `reductions` by name; `histogram`: a list of
`low`, `high`, `count`; `values`: lists in lists, or null if there are more than `--values`.

Of several runs each is shown below its name, at its own last step unless `--step` is given; one that lacks it is left out, and standard error says so. Their JSON: `runs`, a list of such objects in the order given, each
with its `run`.
)";
  }

  void Declare(CLI::App& app) override {
    AddRunsAndTensor(app, what_,
                     "Name of the tensor; of a scalar also without scalar/");
    AddStep(app, step_, /*or_last=*/true);
    AddMode(app, mode_);
    AddWorker(app, worker_);
    app.add_option_function<std::string>(
           "--values", [this](const std::string& text) { SetValues(text); },
           "Show at most about this many values, or all; the rest is "
           "abbreviated; default: 100")
        ->type_name("N");
    AddAscii(app, options_.ascii);
    AddJson(app, json_);
  }

  int Run(Streams streams) override {
    const bool several = what_.runs.size() > 1;
    std::string text;
    Json runs = Json::array();
    ForEachRun(what_.runs, streams, [&](Trial& trial) {
      const query::TensorReport report = Read(trial);
      if (json_) {
        Json json = query::ToJson(report, options_.values);
        runs.push_back(several ? WithRun(trial.path(), json) : std::move(json));
        return;
      }
      if (several) {
        text += fmt::format("{}{}\n", text.empty() ? "" : "\n",
                            Printable(trial.path()));
      }
      text += ReportText(report, options_, streams.out_terminal);
    });
    if (json_) {
      PrintJson(streams.out,
                several ? Json{{"runs", std::move(runs)}} : runs.front());
    } else {
      streams.out << text;
    }
    return kExitOk;
  }

 private:
  query::TensorReport Read(Trial& trial) const {
    const Tensor tensor = query::RequireTensor(trial, what_.tensor);
    query::RequireWorker(trial, worker_);
    query::RequireMode(std::array{&trial}, mode_);
    const std::vector<int64_t> steps =
        tensor.Steps(mode_, /*include_incomplete=*/true);
    if (step_ && !std::ranges::binary_search(steps, *step_)) {
      query::RequireReadable(trial, step_, mode_);
    }
    const int64_t step = query::RequireStep(steps, step_, mode_,
                                            fmt::format("'{}'", tensor.name()));
    return query::ReadReport(trial, tensor, step, mode_, worker_);
  }

  void SetValues(const std::string& text) {
    if (text == "all") {
      options_.values = std::numeric_limits<int64_t>::max();
      return;
    }
    const auto parsed = base::ParseInt(text);
    if (!parsed || *parsed < 0) {
      throw CLI::ValidationError(
          "--values",
          fmt::format("'{}' is not allowed; expected a whole number of at "
                      "least 0, or all",
                      text));
    }
    options_.values = *parsed;
  }

  RunsAndTensor what_;
  std::optional<int64_t> step_;
  Mode mode_ = Mode::kGlobal;
  std::optional<std::string> worker_;
  ReportOptions options_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> MakeShowCommand() {
  return std::make_unique<ShowCommand>();
}

}  // namespace smdebug::cli
