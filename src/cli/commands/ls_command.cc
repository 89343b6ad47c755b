#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "src/cli/command.h"
#include "src/cli/options.h"
#include "src/cli/output/json_output.h"
#include "src/cli/output/table.h"
#include "src/cli/output/text.h"
#include "src/query/open_run.h"
#include "src/query/tensor_list.h"

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

// `smdebug ls <run>`: the tensors of a run, one per line, by name.
class LsCommand final : public Command {
 public:
  std::string_view name() const override { return "ls"; }
  std::string_view summary() const override {
    return "List the tensors of a run and what is saved of each.";
  }
  std::string_view examples() const override {
    return "  smdebug ls ./run\n"
           "  smdebug ls ./run '*weight' --mode train --step 100\n"
           "  smdebug ls ./run --collection gradients\n"
           "  smdebug ls --json ./run | jq -r '.tensors[].name'\n";
  }
  std::vector<ExitCode> exit_codes() const override {
    return {{kExitOk, "there are such tensors, or the run has none at all"},
            {kExitFound, "the run has tensors, but none that matches"},
            {kExitError, "no run there, or no such step or collection in it"}};
  }
  std::string_view details() const override {
    return R"(`pattern` with `*` (any text) or `?` (any character) in it must match the whole name; without, the name must hold it. Filters add up.

| Column | Meaning |
|---|---|
| `collections` | the collections that the tensor is in |
| `dtype`, `shape` | at `--step`, else at the last step; `?` where the run does not tell (reductions of smdebug 1.0) |
| `saved` | `value`, names or number of the reductions, `shape`; at `--step`, else over all steps |
| `steps` | number of steps with anything of the tensor, the first and the last, incomplete ones included |

JSON: `run`, and `tensors`, a list of objects with `name`, `collections`, `dtype`, `shape` (null where not known), `saved` (`value`, `reductions`, `shape`),
`steps`, `first_step`, `last_step`.
)";
  }

  void Declare(CLI::App& app) override {
    AddRun(app, run_);
    app.add_option("pattern", query_.pattern,
                   "Only tensors with such a name: text, or with * and ?")
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
    TrialOptions options = query::RunOptions();
    options.verify_checksums = false;  // Types and shapes are enough here.
    const auto trial = query::OpenRun(run_, options);
    const DamageNotice notice(trial.get(), streams);
    if (query_.step) {
      query::RequireStep(trial->Steps(query_.mode, true), query_.step,
                         query_.mode, "the run");
    }
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
      streams.err << fmt::format("smdebug: none of the {} matches\n",
                                 Counted(all, "tensor"));
    }
    return all == 0 ? kExitOk : kExitFound;
  }

 private:
  std::string run_;
  query::TensorQuery query_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> MakeLsCommand() {
  return std::make_unique<LsCommand>();
}

}  // namespace smdebug::cli
