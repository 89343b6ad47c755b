#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "smdebug/error.h"
#include "src/cli/command.h"
#include "src/cli/commands/export_file.h"
#include "src/cli/interrupt.h"
#include "src/cli/options.h"
#include "src/cli/output/json_output.h"
#include "src/cli/output/text.h"
#include "src/query/csv_export.h"
#include "src/query/npz_export.h"
#include "src/query/open_run.h"

namespace smdebug::cli {
namespace {

using query::ExportCsv;
using query::ExportNpz;
using query::ExportResult;

// `smdebug export <run>`: values for NumPy, numbers for a spreadsheet.
class ExportCommand final : public Command {
 public:
  std::string_view name() const override { return "export"; }
  std::string_view summary() const override {
    return "Write tensors to a NumPy .npz file, or numbers to a CSV file.";
  }
  std::string_view examples() const override {
    return "  smdebug export ./run --npz run.npz\n"
           "  smdebug export ./run --npz fc.npz --regex '^fc' --step 100\n"
           "  smdebug export ./run --csv - --regex loss\n"
           "  smdebug export ./run --csv run.csv --reduction mean,abs_max\n";
  }
  std::vector<ExitCode> exit_codes() const override {
    return {{kExitOk, "the file was written"},
            {kExitFound,
             "it was written without what is damaged, which standard error "
             "names"},
            {kExitError,
             "no run there, nothing to export, or the file cannot be written; "
             "no file is left then"},
            {kExitInterrupted, "Ctrl-C; no file is left"}};
  }
  std::string_view details() const override {
    return R"(The file appears under its name when it is whole, and never replaces another without `--force`. Complete steps are exported, one value in memory at a time.

**npz**: what `numpy.load` opens: a zip archive, not compressed, with one array per tensor, step and worker.

| Name of the array | When |
|---|---|
| `<tensor>/<MODE>/<step>` | one worker, or `--worker` is given. The step is counted within its mode; `<MODE>` is `GLOBAL` if the job never set one |
| `<tensor>/<MODE>/<step>/<worker>` | several workers |
| `<tensor>:<reduction>/...` | with `--reduction`: float64 of rank 0 |

Arrays have the type they were saved with, but for `bfloat16` and the `float8` types, which NumPy lacks: they become `float32`, which holds them exactly. Strings
become NumPy's fixed-width Unicode. Tensors of which only reductions were saved are left out, and the command says so, unless `--reduction` is given.

<!-- given: import numpy; numpy.savez("run.npz", **{"fc.weight/TRAIN/100": numpy.ones(3)}) -->
```python
arrays = numpy.load("run.npz")
arrays["fc.weight/TRAIN/100"]
```

**csv**: one number per line, in long form: `step,mode,mode_step,worker,tensor,value`. `step` counts over all modes. A tensor of one element stands with its
value; of the others, the reductions asked for, as `<tensor>:<reduction>`; where no value was saved and no reduction is asked for, all that were saved.
A tensor of several elements without `--reduction` is refused. Numbers read back equal; NaN and infinities are `nan`, `inf` and `-inf`. `--csv -` writes to
standard output.

JSON: `file`, `entries` (arrays or rows), `bytes`, `left_out` (what was asked for and is not there at some step: names of tensors, or `<tensor>:<reduction>`).
)";
  }

  void Declare(CLI::App& app) override {
    AddRun(app, run_);
    auto* npz = app.add_option("--npz", npz_, "Write a NumPy .npz file");
    auto* csv =
        app.add_option("--csv", csv_, "Write a CSV file; - is standard output");
    npz->type_name("FILE")->excludes(csv);
    csv->type_name("FILE");
    AddRegex(app, query_.regexes);
    AddStep(app, query_.step, /*or_last=*/false);
    AddMode(app, query_.mode);
    app.add_option("--worker", query_.worker,
                   "Only what this worker saved; default: all workers")
        ->type_name("NAME");
    AddReductions(app, query_.reductions,
                  "Export these in place of values, separated by commas: " +
                      ReductionNames());
    app.add_flag("--force", force_, "Replace the file if it is there");
    AddJson(app, json_);
  }

  int Run(Streams streams) override {
    if (npz_.empty() && csv_.empty()) {
      throw Error("give --npz FILE or --csv FILE");
    }
    const bool to_stdout = csv_ == "-";
    if (to_stdout && json_) {
      throw Error("--csv - writes to standard output; --json needs a FILE");
    }
    std::optional<ExportFile> file;
    if (!to_stdout) file.emplace(npz_.empty() ? csv_ : npz_, force_);
    const InterruptScope interrupt;
    const auto go_on = [&] { return !interrupt.interrupted(); };
    const auto trial = query::OpenRun(run_);
    const DamageNotice notice(trial.get(), streams);
    query::RequireWorker(*trial, query_.worker);
    query::RequireMode(std::array{trial.get()}, query_.mode);
    query::RequireMatch(trial->TensorNames(), query_.regexes);
    query::RequireRunStep(*trial, query_.step, query_.mode,
                          /*include_incomplete=*/false);
    if (to_stdout) {
      const ExportResult result = ExportCsv(
          *trial, query_,
          [&](std::string_view line) {
            return static_cast<bool>(streams.out << line);
          },
          go_on);
      return Finish(*trial, result, streams);
    }
    return WriteFile(*trial, *file, go_on, streams);
  }

 private:
  int WriteFile(Trial& trial, ExportFile& file,
                const std::function<bool()>& go_on, Streams streams) const {
    const ExportResult result =
        npz_.empty() ? ExportCsv(
                           trial, query_,
                           [&](std::string_view line) {
                             file.Write(line);
                             return true;
                           },
                           go_on)
                     : ExportNpz(
                           trial, query_,
                           [&](Bytes bytes) { file.Write(bytes); }, go_on);
    const int code = Finish(trial, result, streams);
    if (code == kExitInterrupted) return code;
    file.Publish();
    if (json_) {
      PrintJson(streams.out, {{"file", npz_.empty() ? csv_ : npz_},
                              {"entries", result.entries},
                              {"bytes", file.size()},
                              {"left_out", result.left_out}});
    } else {
      streams.out << fmt::format(
          "{}: {}, {}\n", npz_.empty() ? csv_ : npz_,
          Counted(result.entries, npz_.empty() ? "row" : "array"),
          HumanBytes(file.size()));
    }
    return code;
  }

  // Says what was left out. Throws Error if that is everything.
  int Finish(const Trial& trial, const ExportResult& result,
             Streams streams) const {
    if (result.interrupted) return kExitInterrupted;
    const bool is_damaged = !trial.damage().empty();
    const std::vector<std::string>& left_out = result.left_out;
    if (result.entries == 0) {
      throw Error(fmt::format("nothing to export: {}",
                              is_damaged ? WhyDamaged(trial.damage().front())
                              : !left_out.empty() ? WhyLeftOut(left_out)
                                                  : "no tensor matches"));
    }
    if (!left_out.empty()) {
      streams.err << "smdebug: left out: " << Printable(WhyLeftOut(left_out))
                  << '\n';
    }
    return is_damaged ? kExitFound : kExitOk;
  }

  static std::string WhyDamaged(const Damage& first) {
    return fmt::format(
        "what there is is damaged ({}: {}); `smdebug verify` lists it all",
        first.file, first.reason);
  }

  std::string WhyLeftOut(const std::vector<std::string>& names) const {
    constexpr size_t kMostNames = 8;
    const auto count = static_cast<int64_t>(names.size());
    const std::string listed = JoinSome(names, kMostNames);
    if (query_.reductions.empty()) {
      return fmt::format(
          "of {} ({}) no value was saved (--reduction exports reductions)",
          Counted(count, "tensor"), listed);
    }
    return fmt::format("{} that {} not saved at some step: {}",
                       Counted(count, "reduction"), count == 1 ? "is" : "are",
                       listed);
  }

  std::string run_;
  std::string npz_;
  std::string csv_;
  query::ExportQuery query_;
  bool force_ = false;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> MakeExportCommand() {
  return std::make_unique<ExportCommand>();
}

}  // namespace smdebug::cli
