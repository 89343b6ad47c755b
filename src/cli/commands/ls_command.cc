#include <array>
#include <cmath>
#include <cstddef>
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
#include "src/cli/output/status_text.h"
#include "src/cli/output/table.h"
#include "src/cli/output/text.h"
#include "src/query/open_run.h"
#include "src/query/run_list.h"
#include "src/query/tensor_list.h"
#include "src/run/survey.h"

namespace smdebug::cli {
namespace {

using query::SavedText;
using query::TensorInfo;

std::string StepsText(const TensorInfo& tensor) {
  return tensor.steps == 1 ? fmt::format("1 ({})", tensor.first_step)
                           : fmt::format("{} ({}..{})", tensor.steps,
                                         tensor.first_step, tensor.last_step);
}

std::string TableText(const std::vector<TensorInfo>& tensors,
                      const Terminal& terminal) {
  Table table(
      {{"name"}, {"collections"}, {"dtype"}, {"shape"}, {"saved"}, {"steps"}});
  for (const TensorInfo& tensor : tensors) {
    table.AddRow({tensor.name, Join(tensor.collections),
                  tensor.dtype ? std::string(DTypeName(*tensor.dtype)) : "?",
                  tensor.shape ? ShapeText(*tensor.shape) : "?",
                  SavedText(tensor.saved), StepsText(tensor)});
  }
  return table.Layout(terminal);
}

std::string StateText(const query::ListedRun& run) {
  if (!run.unread.empty()) return "unreadable";
  return fmt::format("{}{}", RunStateName(run.info.state),
                     run.damage.empty() ? "" : ", damaged");
}

// "-" if all rules that judged it found it well, or none did.
std::string FiredText(const query::ListedRun& run) {
  std::vector<std::string> words = run.fired;
  for (const std::string& rule : run.failed) words.push_back(rule + " (error)");
  return words.empty() ? "-" : Join(words);
}

std::string TableText(const std::vector<query::ListedRun>& runs,
                      const Terminal& terminal) {
  constexpr auto kRight = Table::Align::kRight;
  constexpr size_t kState = 1;
  constexpr size_t kLoss = 3;
  constexpr size_t kFired = 4;
  Table table(
      {{"run"}, {"state"}, {"steps", kRight}, {"last loss"}, {"fired"}});
  for (const query::ListedRun& run : runs) {
    table.AddRow(
        {run.name, StateText(run),
         run.unread.empty() ? fmt::format("{}", run.steps) : "?",
         run.loss ? fmt::format("{} (step {})", ShortNumber(run.loss->value),
                                run.loss->step)
                  : "-",
         FiredText(run)});
    if (IsBadEnd(run.info.state) || !run.unread.empty() ||
        !run.damage.empty()) {
      table.Redden(kState);
    }
    if (run.loss && !std::isfinite(run.loss->value)) table.Redden(kLoss);
    if (!run.fired.empty() || !run.failed.empty()) table.Redden(kFired);
  }
  return table.Layout(terminal);
}

// `smdebug ls <run>`: the tensors of a run, one per line, by name; and of a
// folder of runs, those.
class LsCommand final : public Command {
 public:
  std::string_view name() const override { return "ls"; }
  std::string_view summary() const override {
    return "List the tensors of a run and what is saved of each, or the runs "
           "in a folder.";
  }
  std::string_view examples() const override {
    return "  smdebug ls ./run\n"
           "  smdebug ls ./run '*weight' --mode train --step 100\n"
           "  smdebug ls ./run --collection gradients\n"
           "  smdebug ls --json ./run | jq -r '.tensors[].name'\n"
           "  smdebug ls ./runs\n"
           "  smdebug ls ./runs 'lr*' --json | jq '.runs[].loss.value'\n";
  }
  std::vector<ExitCode> exit_codes() const override {
    return {
        {kExitOk, "there are such tensors or runs, or the run has none at all"},
        {kExitFound,
         "the run has tensors, but none that matches; or the "
         "folder has runs, but none that does"},
        {kExitError, "no run there, or no such step or collection in it"}};
  }
  std::string_view details() const override {
    return R"(`pattern` with `*` (any text) or `?` (any character) in it must match the whole name; without, the name must hold it. Filters add up.

| Column | Meaning |
|---|---|
| `collections` | the collections that the tensor is in |
| `dtype`, `shape` | at `--step`, else at the last step; `?` where the run does not say (reductions of smdebug 1.0) |
| `saved` | `value`, names or number of the reductions, `shape`; at `--step`, else over all steps |
| `steps` | number of steps with anything of the tensor, the first and the last, incomplete ones included |

JSON: `run`, and `tensors`, a list of objects with `name`, `collections`, `dtype`, `shape` (null where not known), `saved` (`value`, `reductions`, `shape`),
`steps`, `first_step`, `last_step`.

A folder that is no run itself is searched for runs: those right below it are listed, not those further down. `pattern` then chooses by the names of their
folders; the other filters are about tensors.

| Column | Meaning |
|---|---|
| `state` | as `smdebug status` has it: `finished`, `failed`, `interrupted`, `running`, `killed` or `unknown`; `damaged` if a file is, `unreadable` if nothing can be said. Standard error says why |
| `steps` | number of steps that at least one worker saved |
| `last loss` | the newest number of a tensor in the collection `losses`, or else of one with `loss` in its name, and its step over all modes |
| `fired` | rules whose report in `<run>/rules/` says that they found issues, and, with `(error)`, those that could not judge; not those that were given a collection or regex that the run does not have. A report that is removed is gone from here |

JSON: `folder`; `runs`, a list of objects with `name`, `run` (the path), `error` (null, or why it cannot be read: nothing else is there then), `state`, `reason`,
`steps`, `last_step`, `loss` (null, or `tensor`, `step`, `value`), `fired`, `failed` (rules that could not judge) and `damage` (a list of `file` and `reason`);
`others`, the number of folders that hold no run.
)";
  }

  void Declare(CLI::App& app) override {
    app.add_option("run", run_,
                   "Folder of the run: the hook's out_dir; or a folder with "
                   "runs right below it")
        ->required()
        ->type_name("");
    app.add_option("pattern", query_.pattern,
                   "Only tensors (or runs) with such a name: text, or with * "
                   "and ?")
        ->type_name("");
    app.add_option("--collection", query_.collection,
                   "Only tensors in this collection")
        ->type_name("NAME");
    AddMode(app, query_.mode);
    AddStep(app, query_.step, /*or_last=*/false);
    AddRegex(app, query_.regexes);
    AddJson(app, json_);
  }

  int Run(Streams streams) override {
    const auto storage = query::OpenFolder(run_);
    if (!run::HoldsRun(*storage)) return ListRuns(*storage, streams);
    TrialOptions options = query::RunOptions();
    options.verify_checksums = false;  // Types and shapes are enough here.
    const auto trial = query::OpenRun(storage, options);
    const DamageNotice notice(trial.get(), streams);
    query::RequireRunStep(*trial, query_.step, query_.mode,
                          /*include_incomplete=*/true);
    const std::vector<TensorInfo> tensors = query::ListTensors(*trial, query_);
    if (json_) {
      Json list = Json::array();
      for (const TensorInfo& tensor : tensors)
        list.push_back(query::ToJson(tensor));
      PrintJson(streams.out,
                {{"run", trial->path()}, {"tensors", std::move(list)}});
    } else if (!tensors.empty()) {
      streams.out << TableText(tensors, streams.out_terminal);
    }
    if (!tensors.empty()) return kExitOk;
    const auto all = static_cast<int64_t>(trial->TensorNames().size());
    if (all == 0) {
      streams.err << fmt::format("smdebug: the run has no tensors{}\n",
                                 trial->run_info().over() ? "" : " yet");
    } else {
      streams.err << fmt::format("smdebug: none of the {} matches{}\n",
                                 Counted(all, "tensor"),
                                 Printable(WhyNone(*trial)));
    }
    return all == 0 ? kExitOk : kExitFound;
  }

 private:
  // What there is instead, where one filter alone lets nothing pass.
  std::string WhyNone(Trial& trial) const {
    try {
      query::RequireMode(std::array{&trial}, query_.mode);
      query::RequireMatch(trial.TensorNames(), query_.regexes);
    } catch (const Error& error) {
      return fmt::format(": {}", error.what());
    }
    return {};
  }

  // Of a folder that is none.
  int ListRuns(const Storage& storage, Streams streams) const {
    const query::RunList list = query::ListRuns(storage.root(), query_.pattern);
    if (list.runs.empty() && list.unmatched == 0) {
      throw Error(fmt::format("{}: {}; and it has no folder that holds one",
                              list.folder, run::WhyNoRun(storage)));
    }
    if (query_.step || query_.collection || !query_.regexes.empty() ||
        query_.mode != Mode::kGlobal) {
      throw Error(fmt::format(
          "{}: is a folder of runs; --step, --collection, --regex and --mode "
          "choose tensors of one run",
          list.folder));
    }
    if (json_) {
      PrintJson(streams.out, query::ToJson(list));
    } else if (!list.runs.empty()) {
      streams.out << TableText(list.runs, streams.out_terminal);
    }
    for (const query::ListedRun& run : list.runs) {
      std::string line;
      if (!run.unread.empty()) {
        line = fmt::format("smdebug: {}: {}", Printable(run.name),
                           Printable(run.unread));
      } else if (!run.damage.empty()) {
        const Damage& first = run.damage.front();
        line = fmt::format("smdebug: damaged: {}/{}: {}", Printable(run.name),
                           Printable(first.file), Printable(first.reason));
      } else {
        continue;
      }
      streams.err << Paint(streams.err_terminal, Colour::kRed, line) << '\n';
    }
    if (!list.runs.empty()) return kExitOk;
    streams.err << fmt::format(
        "smdebug: none of the {} there is a run that matches\n",
        Counted(list.unmatched + list.others, "folder"));
    return kExitFound;
  }

  std::string run_;
  query::TensorQuery query_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> MakeLsCommand() {
  return std::make_unique<LsCommand>();
}

}  // namespace smdebug::cli
