#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "smdebug/error.h"
#include "src/base/bytes.h"
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
             "the call is wrong, no run there, nothing to export, or the file "
             "cannot be written; no file is left then"},
            {kExitInterrupted, "Ctrl-C; no file is left"}};
  }
  std::string_view details() const override {
    return R"(The file appears under its name when it is whole, and never replaces another without `--force`. `-` is standard output, and so is `/dev/stdout`. A link is followed, and stays: `--force` replaces the file that it leads to;
a link to nothing is refused. Pipes and character devices are never replaced, but written to as the values come. Complete steps are exported, one value in memory at a time.

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
A tensor of several elements without `--reduction` is refused. Numbers read back equal; NaN and infinities are `nan`, `inf` and `-inf`.

JSON: `file`, `entries` (arrays or rows), `bytes`, `left_out` (what was asked for and is not there at some step: names of tensors, or `<tensor>:<reduction>`).
)";
  }

  void Declare(CLI::App& app) override {
    AddRun(app, run_);
    auto* npz = app.add_option("--npz", npz_,
                               "Write a NumPy .npz file; - is standard output");
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
    const std::string target = npz_.empty() ? csv_ : npz_;
    const bool to_stdout = target == "-" || target == "/dev/stdout";
    if (to_stdout && json_) {
      throw Error(
          fmt::format("{} {} writes to standard output; --json needs a FILE",
                      npz_.empty() ? "--csv" : "--npz", target));
    }
    if (to_stdout && !npz_.empty() && streams.out_terminal.is_terminal) {
      throw Error("--npz writes no text, and standard output is a terminal");
    }
    std::optional<ExportFile> file;
    if (!to_stdout) file.emplace(target, force_);
    const InterruptScope interrupt;
    const auto go_on = [&] {
      return !interrupt.interrupted() && !streams.out.fail();
    };
    const auto trial = query::OpenRun(run_);
    const DamageNotice notice(trial.get(), streams);
    query::RequireWorker(*trial, query_.worker);
    query::RequireMode(std::array{trial.get()}, query_.mode);
    query::RequireMatch(trial->TensorNames(), query_.regexes);
    query::RequireRunStep(*trial, query_.step, query_.mode,
                          /*include_incomplete=*/false);
    const auto write = [&](std::string_view part) {
      if (file) {
        file->Write(part);
      } else {
        streams.out << part;
      }
      return !streams.out.fail();
    };
    const ExportResult result =
        npz_.empty()
            ? ExportCsv(*trial, query_, write, go_on)
            : ExportNpz(
                  *trial, query_,
                  [&](Bytes bytes) { write(base::AsText(bytes)); }, go_on);
    const int code = Finish(*trial, result, streams);
    if (file && code != kExitInterrupted) {
      file->Publish();
      Tell(target, result, file->size(), streams.out);
    }
    return code;
  }

 private:
  void Tell(const std::string& target, const ExportResult& result,
            uint64_t bytes, std::ostream& out) const {
    if (json_) {
      PrintJson(out, {{"file", target},
                      {"entries", result.entries},
                      {"bytes", bytes},
                      {"left_out", result.left_out}});
      return;
    }
    out << fmt::format("{}: {}, {}\n", target,
                       Counted(result.entries, npz_.empty() ? "row" : "array"),
                       HumanBytes(bytes));
  }

  // Says what was left out. Throws Error if that is everything.
  int Finish(Trial& trial, const ExportResult& result, Streams streams) const {
    if (result.interrupted) return kExitInterrupted;
    const bool is_damaged = !trial.damage().empty();
    const std::vector<std::string>& left_out = result.left_out;
    if (result.entries == 0) {
      throw Error(fmt::format("nothing to export: {}",
                              is_damaged ? WhyDamaged(trial.damage().front())
                              : !left_out.empty() ? WhyLeftOut(left_out)
                                                  : WhyNone(trial)));
    }
    if (!left_out.empty()) {
      streams.err << "smdebug: left out: " << Printable(WhyLeftOut(left_out))
                  << '\n';
    }
    return is_damaged ? kExitFound : kExitOk;
  }

  static std::string_view WhyNone(Trial& trial) {
    if (!trial.TensorNames().empty()) return "no tensor matches";
    return trial.run_info().over() ? "the run has no tensors"
                                   : "the run has no tensors yet";
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
