#include <array>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "smdebug/error.h"
#include "src/cli/command.h"
#include "src/cli/options.h"
#include "src/cli/output/json_output.h"
#include "src/cli/output/table.h"
#include "src/cli/output/text.h"
#include "src/query/open_run.h"
#include "src/query/step_list.h"

namespace smdebug::cli {
namespace {

// `smdebug steps <run>`: the saved steps, one per line, oldest first.
class StepsCommand final : public Command {
 public:
  std::string_view name() const override { return "steps"; }
  std::string_view summary() const override {
    return "List the saved steps of a run.";
  }
  std::string_view examples() const override {
    return "  smdebug steps ./run\n"
           "  smdebug steps ./run --mode eval\n"
           "  smdebug steps ./run --long --incomplete\n"
           "  smdebug steps ./run | tail -n 1\n";
  }
  std::vector<ExitCode> exit_codes() const override {
    return {{kExitOk, "always, even if no step was saved"},
            {kExitError, "there is no run"}};
  }
  std::string_view details() const override {
    return R"(One number per line, and nothing else without `--long`. With `--mode` it is the step counted within the mode. A step is complete when every worker has saved
it, when a later step is complete, or when the job has ended.

JSON: `run`, `num_workers`, and `steps`, a list of objects with `step` (over all modes), `mode`, `mode_step` and `workers`.
)";
  }

  void Declare(CLI::App& app) override {
    AddRun(app, run_);
    AddMode(app, mode_);
    app.add_flag("--incomplete", incomplete_,
                 "Also list steps that some worker has not saved yet");
    app.add_flag("--long", long_,
                 "Also show mode, step within the mode, and workers");
    AddJson(app, json_);
  }

  int Run(Streams streams) override {
    const auto trial = query::OpenRun(run_);
    const DamageNotice notice(trial.get(), streams);
    const std::vector<int64_t> steps = trial->Steps(mode_, incomplete_);
    if (steps.empty()) TellNone(*trial, streams.err);
    if (json_) {
      PrintAsJson(*trial, steps, streams.out);
    } else if (long_) {
      streams.out << TableText(*trial, steps, streams.out_terminal);
    } else {
      for (const int64_t step : steps) streams.out << step << '\n';
    }
    return kExitOk;
  }

 private:
  void TellNone(Trial& trial, std::ostream& err) const {
    try {
      query::RequireMode(std::array{&trial}, mode_);
    } catch (const Error& error) {
      err << "smdebug: " << error.what() << '\n';
    }
  }

  void PrintAsJson(Trial& trial, const std::vector<int64_t>& steps,
                   std::ostream& out) const {
    Json list = Json::array();
    for (const query::StepInfo& step : query::ListSteps(trial, steps, mode_)) {
      list.push_back(query::ToJson(step));
    }
    PrintJson(out, {{"run", trial.path()},
                    {"num_workers", trial.num_workers()},
                    {"steps", std::move(list)}});
  }

  std::string TableText(Trial& trial, const std::vector<int64_t>& steps,
                        const Terminal& terminal) const {
    constexpr auto kRight = Table::Align::kRight;
    Table table(
        {{"step", kRight}, {"mode"}, {"mode step", kRight}, {"workers"}});
    for (const auto& [id, workers] : query::ListSteps(trial, steps, mode_)) {
      table.AddRow({fmt::format("{}", id.step), std::string(ModeName(id.mode)),
                    fmt::format("{}", id.mode_step), Join(workers)});
    }
    return table.empty() ? "" : table.Layout(terminal);
  }

  std::string run_;
  Mode mode_ = Mode::kGlobal;
  bool incomplete_ = false;
  bool long_ = false;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> MakeStepsCommand() {
  return std::make_unique<StepsCommand>();
}

}  // namespace smdebug::cli
