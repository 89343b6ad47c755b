#include <array>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "src/cli/command.h"
#include "src/cli/options.h"
#include "src/cli/output/chart.h"
#include "src/cli/output/json_output.h"
#include "src/cli/output/text.h"
#include "src/query/open_run.h"
#include "src/query/run_names.h"
#include "src/query/series.h"

namespace smdebug::cli {
namespace {

// What of one run is plotted.
struct PlottedRun {
  std::string run;
  query::TensorSeries whole;
  std::vector<query::TensorSeries> by_mode;
};

// "mean of fc.weight, TRAIN, worker_0".
std::string NameOf(const query::TensorSeries& plotted) {
  std::string name =
      plotted.reduction
          ? fmt::format("{} of {}", ReductionName(*plotted.reduction),
                        plotted.tensor)
          : plotted.tensor;
  if (plotted.mode != Mode::kGlobal) {
    name += fmt::format(", {}", ModeName(plotted.mode));
  }
  if (plotted.worker) name += fmt::format(", {}", *plotted.worker);
  return Printable(name);
}

// "loss: 6 steps, last 0.25".
std::string Summary(const std::string& name, const query::Series& series) {
  return fmt::format("{}: {}, last {}", name,
                     Counted(static_cast<int64_t>(series.steps.size()), "step"),
                     ShortNumber(series.values.back()));
}

void TellDamaged(const Trial& trial, const query::TensorSeries& plotted,
                 std::ostream& err) {
  constexpr size_t kMostSteps = 10;
  if (plotted.damaged.empty()) return;
  std::vector<std::string> steps;
  for (const int64_t step : plotted.damaged) {
    steps.push_back(fmt::format("{}", step));
  }
  err << fmt::format("smdebug: left out: {}: '{}' is damaged at {} {}\n",
                     Printable(trial.path()), Printable(plotted.tensor),
                     steps.size() == 1 ? "step" : "steps",
                     JoinSome(steps, kMostSteps));
}

// One for each run and mode.
std::vector<ChartLine> LinesOf(const std::vector<PlottedRun>& plotted) {
  std::vector<std::string> paths;
  for (const PlottedRun& one : plotted) paths.push_back(one.run);
  const std::vector<std::string> names = query::NamesOfRuns(paths);
  std::vector<ChartLine> lines;
  for (size_t i = 0; i < plotted.size(); ++i) {
    const PlottedRun& one = plotted[i];
    for (const query::TensorSeries& part : one.by_mode) {
      std::vector<std::string> words;
      if (plotted.size() > 1) words.push_back(Printable(names[i]));
      if (part.mode != one.whole.mode) {
        words.emplace_back(ModeName(part.mode));
      }
      lines.push_back(
          {Summary(fmt::format("{}", fmt::join(words, " ")), part.series),
           part.series});
    }
  }
  return lines;
}

// `smdebug plot <run>... <tensor>`: curves over the steps.
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
           "  smdebug plot ./before ./after loss --mode train\n"
           "  smdebug plot ./runs/* --tensor loss\n"
           "  smdebug plot ./run loss --json | jq '.values[-1]'\n"
           "  smdebug plot ./run loss --json --points 500 | jq "
           "'.buckets[].max'\n";
  }
  std::vector<ExitCode> exit_codes() const override {
    return {{kExitOk, "it was plotted, of at least one of the runs"},
            {kExitError,
             "no such run, tensor, reduction, mode or worker, or every value "
             "is damaged"}};
  }
  std::string_view details() const override {
    return R"(A tensor of one element is plotted as it is. Of any other a reduction is plotted: the saved one, or else the same computed from the saved value. `mean`
is the default. `<tensor>:<reduction>` is short for `--reduction`, unless a tensor has that very name. Steps at which the tensor has nothing to plot are left out. So are damaged ones; standard error names them.

Several runs are drawn into one picture; one that lacks the tensor is left out, and standard error says so. Each run, and each mode of a run, has a line with a sign of its own, and a legend names them; where they meet
stands `=`. More than 31 such lines are refused, for lack of signs; `--json` takes any number. Over all modes steps are counted over all modes; `--mode` draws one mode, with the steps counted within it.

A line breaks where a value is not finite: NaN is marked in a row below the curve, an infinity at its edge, and a line below counts them.

JSON: `tensor`, `reduction` (null for values), `mode`, `worker` (null if not asked for), `damaged` (steps of it that cannot be read), and `steps` and `values`, two lists of equal length. With `--points`, in
place of these two, `buckets`: `first_step`, `last_step`, how many steps they are (`count`), the `first` and the `last` value, `min` and `max` of the finite ones with
their steps (`min_step`, `max_step`), and how many are `nan`, `pos_inf` and `neg_inf`. A spike is in its bucket however few there are. For
several runs: `runs`, a list of such objects in the order given, each with its `run`. The points of one run are in one list, whatever their mode.
)";
  }

  void Declare(CLI::App& app) override {
    AddRunsAndTensor(app, what_,
                     "Name of the tensor, of a scalar also without scalar/, or "
                     "<tensor>:<reduction>");
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
    std::vector<PlottedRun> plotted;
    ForEachRun(what_.runs, streams, [&](Trial& trial) {
      query::RequireWorker(trial, worker_);
      query::RequireMode(std::array{&trial}, mode_);
      query::SeriesQuery series = {
          .tensor = what_.tensor, .mode = mode_, .worker = worker_};
      if (!reductions_.empty()) series.reduction = reductions_.front();
      query::TensorSeries whole = query::ReadSeries(trial, series);
      TellDamaged(trial, whole, streams.err);
      auto by_mode = query::SplitByMode(trial, whole);
      plotted.push_back({trial.path(), std::move(whole), std::move(by_mode)});
    });
    if (json_) {
      PrintJson(streams.out, JsonOf(plotted));
      return kExitOk;
    }
    const Terminal& terminal = streams.out_terminal;
    const size_t width = width_ > 0             ? width_
                         : terminal.is_terminal ? terminal.width
                                                : 80;
    const std::vector<ChartLine> lines = LinesOf(plotted);
    if (lines.size() > kMostChartLines) {
      throw Error(fmt::format(
          "there are signs for {} lines in one picture, and these are {}; name "
          "fewer runs, or take --json",
          kMostChartLines, lines.size()));
    }
    const query::TensorSeries& first = plotted.front().whole;
    streams.out << (lines.size() > 1 ? NameOf(first)
                                     : Summary(NameOf(first), first.series))
                << "\n\n"
                << ChartText(lines, {.width = width,
                                     .height = height_,
                                     .utf8 = terminal.utf8 && !ascii_,
                                     .colour = terminal.colour});
    return kExitOk;
  }

 private:
  Json JsonOf(const std::vector<PlottedRun>& plotted) const {
    const auto one = [&](const query::TensorSeries& series) {
      return points_ == 0 ? query::ToJson(series)
                          : query::ToJson(series, query::Downsample(
                                                      series.series, points_));
    };
    if (plotted.size() == 1) return one(plotted.front().whole);
    Json runs = Json::array();
    for (const PlottedRun& run : plotted) {
      runs.push_back(WithRun(run.run, one(run.whole)));
    }
    return {{"runs", std::move(runs)}};
  }

  RunsAndTensor what_;
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
