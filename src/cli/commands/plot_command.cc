#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "src/cli/command.h"
#include "src/cli/options.h"
#include "src/cli/output/chart.h"
#include "src/cli/output/json_output.h"
#include "src/cli/output/text.h"
#include "src/query/open_run.h"
#include "src/query/series.h"

namespace smdebug::cli {
namespace {

std::string Title(const query::TensorSeries& plotted) {
  std::string title =
      plotted.reduction
          ? fmt::format("{} of {}", ReductionName(*plotted.reduction),
                        plotted.tensor)
          : plotted.tensor;
  if (plotted.mode != Mode::kGlobal) {
    title += fmt::format(", {}", ModeName(plotted.mode));
  }
  if (plotted.worker) title += fmt::format(", {}", *plotted.worker);
  const double last = plotted.series.values.back();
  return fmt::format(
      "{}: {}, last {}", Printable(title),
      Counted(static_cast<int64_t>(plotted.series.steps.size()), "step"),
      ShortNumber(last));
}

// `smdebug plot <run> <tensor>`: a curve over the steps.
class PlotCommand final : public Command {
 public:
  std::string_view name() const override { return "plot"; }
  std::string_view summary() const override {
    return "Plot a scalar, or a reduction of a tensor, over the steps.";
  }
  std::string_view examples() const override {
    return "  smdebug plot ./run loss\n"
           "  smdebug plot ./run fc.weight:abs_mean --mode train\n"
           "  smdebug plot ./run fc.weight --reduction l2 --height 24\n"
           "  smdebug plot ./run loss --json | jq '.values[-1]'\n"
           "  smdebug plot ./run loss --json --points 500 | jq "
           "'.buckets[].max'\n";
  }
  std::vector<ExitCode> exit_codes() const override {
    return {{kExitOk, "it was plotted"},
            {kExitError,
             "no such run, tensor, reduction or worker, or a value is "
             "damaged"}};
  }
  std::string_view details() const override {
    return R"(A tensor of one element is plotted as it is. Of any other a reduction is plotted: the saved one, or else the same computed from the saved value. `mean`
is the default. `<tensor>:<reduction>` is short for `--reduction`, unless a tensor has that very name. Steps at which the tensor has nothing to plot are left out.

The line breaks where a value is not finite: NaN is marked in a row below the curve, an infinity at its edge, and a line below counts them.

JSON: `tensor`, `reduction` (null for values), `mode`, `worker` (null if not asked for), and `steps` and `values`, two lists of equal length. With `--points`, in
place of these two, `buckets`: `first_step`, `last_step`, how many steps they are (`count`), the `first` and the `last` value, `min` and `max` of the finite ones with
their steps (`min_step`, `max_step`), and how many are `nan`, `pos_inf` and `neg_inf`. A spike is in its bucket however few there are.
)";
  }

  void Declare(CLI::App& app) override {
    AddRun(app, run_);
    app.add_option("tensor", tensor_,
                   "Name of the tensor, of a scalar also without scalar/, or "
                   "<tensor>:<reduction>")
        ->required()
        ->type_name("");
    AddReductions(app, reductions_, "What to plot: " + ReductionNames());
    AddMode(app, mode_);
    AddWorker(app, worker_);
    AddWhole(
        app, "--width", {.least = 20, .most = 1000},
        [this](int64_t width) { width_ = static_cast<size_t>(width); },
        "Columns of the whole; default: those of the terminal, 80 elsewhere");
    AddWhole(
        app, "--height", {.least = 3, .most = 1000},
        [this](int64_t height) { height_ = static_cast<size_t>(height); },
        "Rows of the curve; default: 16");
    AddAscii(app, ascii_);
    AddJson(app, json_);
    AddWhole(
        app, "--points", {.least = 1},
        [this](int64_t points) { points_ = static_cast<size_t>(points); },
        "With --json: put the steps together in at most so many buckets; "
        "default: every step by itself")
        ->needs("--json");
  }

  int Run(Streams streams) override {
    if (reductions_.size() > 1) {
      throw CLI::ValidationError("--reduction", "one is plotted at a time");
    }
    const auto trial = query::OpenRun(run_);
    const DamageNotice notice(trial.get(), streams);
    query::RequireWorker(*trial, worker_);
    query::SeriesQuery series = {
        .tensor = tensor_, .mode = mode_, .worker = worker_};
    if (!reductions_.empty()) series.reduction = reductions_.front();
    const query::TensorSeries plotted = query::ReadSeries(*trial, series);
    if (json_) {
      PrintJson(streams.out,
                points_ == 0
                    ? query::ToJson(plotted)
                    : query::ToJson(
                          plotted, query::Downsample(plotted.series, points_)));
      return kExitOk;
    }
    const Terminal& terminal = streams.out_terminal;
    const size_t width = width_ > 0             ? width_
                         : terminal.is_terminal ? terminal.width
                                                : 80;
    streams.out << Title(plotted) << "\n\n"
                << ChartText(plotted.series,
                             {.width = width,
                              .height = height_,
                              .utf8 = terminal.utf8 && !ascii_});
    return kExitOk;
  }

 private:
  std::string run_;
  std::string tensor_;
  std::vector<Reduction> reductions_;
  Mode mode_ = Mode::kGlobal;
  std::optional<std::string> worker_;
  size_t width_ = 0;
  size_t height_ = 16;
  size_t points_ = 0;
  bool ascii_ = false;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> MakePlotCommand() {
  return std::make_unique<PlotCommand>();
}

}  // namespace smdebug::cli
