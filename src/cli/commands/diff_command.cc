#include <algorithm>
#include <array>
#include <iterator>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "src/cli/command.h"
#include "src/cli/options.h"
#include "src/cli/output/diff_text.h"
#include "src/cli/output/json_output.h"
#include "src/cli/output/progress.h"
#include "src/query/open_run.h"
#include "src/query/run_compare.h"

namespace smdebug::cli {
namespace {

// `smdebug diff <a> <b>`: where two runs part.
class DiffCommand final : public Command {
 public:
  std::string_view name() const override { return "diff"; }
  std::string_view summary() const override {
    return "Compare two runs: the first step and tensor that differ.";
  }
  std::string_view examples() const override {
    return "  smdebug diff ./before ./after\n"
           "  smdebug diff ./a ./b --rtol 0 --atol 0 --regex weight\n"
           "  smdebug diff ./a ./b --json | jq .first\n";
  }
  std::vector<ExitCode> exit_codes() const override {
    return {{kExitOk, "the runs are equal within the tolerance"},
            {kExitFound, "they differ"},
            {kExitError,
             "one of them is not there, or neither has such a tensor or mode; "
             "or nothing differs, but something is damaged"}};
  }
  std::string_view details() const override {
    return R"(Two numbers are equal if `|a - b| <= atol + rtol * |b|`, as `numpy.allclose` has it; NaN equals NaN, an infinity itself. Element types may differ. `--rtol 0
--atol 0` compares exactly. Tensors are paired by step, name and worker. Where both runs have the value, values are compared; else reductions that both saved,
or that one saved and the other's value gives; else shapes. `std`, `variance` and norms are not computed from values, since runs differ in their definitions.
Steps that are not complete are left out. Steps, tensors or entries that only one run has make the runs differ.
A value that is damaged in one of them is left out, and named on standard error.

JSON: `equal`; `first` (null, or as below); `compared`, `damaged` (not compared, since one cannot be read), `different` (tensors at a step of a worker), `tensors_different` (by name); `steps_only_a`,
`steps_only_b`, `tensors_only_a`, `tensors_only_b` (lists); `entries_only_a`, `entries_only_b` (numbers); `largest`, a list of objects with `step`, `tensor`,
`worker`, `what` (`value`, a reduction, `shape` or `form`), `mismatch` (why they cannot be compared, or null), `count`, `differing`, `largest` (the largest
difference), `where` (its place in C order) and the elements there, `a` and `b`, as text.
)";
  }

  void Declare(CLI::App& app) override {
    app.add_option("a", a_, "Folder of a run")->required()->type_name("");
    app.add_option("b", b_, "Folder of the run to compare it with")
        ->required()
        ->type_name("");
    AddTolerance(app, "--rtol", options_.tolerance.rtol,
                 "Tolerance relative to b; default: 1e-05");
    AddTolerance(app, "--atol", options_.tolerance.atol,
                 "Absolute tolerance; default: 1e-08");
    AddRegex(app, options_.regexes);
    AddMode(app, options_.mode);
    AddWhole(
        app, "--limit", {},
        [this](int64_t limit) { options_.limit = static_cast<size_t>(limit); },
        "How many of the largest differences to list; default: 10");
    AddJson(app, json_);
  }

  int Run(Streams streams) override {
    const auto a = query::OpenRun(a_);
    const auto b = query::OpenRun(b_);
    const DamageNotice notice_a(a.get(), streams);
    const DamageNotice notice_b(b.get(), streams);
    RequireSomething(*a, *b);
    std::optional<Progress> progress;
    const query::RunComparison result = query::CompareRuns(
        *a, *b, options_,
        [&](uint64_t total) {
          progress.emplace(streams.err, streams.err_terminal,
                           Progress::Unit::kSteps, total);
        },
        [&] { progress->Add(1); });
    progress.reset();
    if (json_) {
      PrintJson(streams.out, query::ToJson(result));
    } else {
      streams.out << DiffText(result, streams.out_terminal);
    }
    if (result.differ()) return kExitFound;
    return result.equal() ? kExitOk : kExitError;
  }

 private:
  // What is in neither run cannot be compared: that is no equality.
  void RequireSomething(Trial& a, Trial& b) const {
    query::RequireMode(std::array{&a, &b}, options_.mode);
    std::vector<std::string> names = a.TensorNames({.mode = options_.mode});
    std::ranges::copy(b.TensorNames({.mode = options_.mode}),
                      std::back_inserter(names));
    std::ranges::sort(names);
    names.erase(std::unique(names.begin(), names.end()), names.end());
    query::RequireMatch(names, options_.regexes);
  }

  std::string a_;
  std::string b_;
  query::CompareOptions options_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> MakeDiffCommand() {
  return std::make_unique<DiffCommand>();
}

}  // namespace smdebug::cli
