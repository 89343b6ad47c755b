#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "src/base/clock.h"
#include "src/cli/command.h"
#include "src/cli/options.h"
#include "src/cli/output/json_output.h"
#include "src/cli/output/status_text.h"
#include "src/query/open_run.h"
#include "src/query/status.h"

namespace smdebug::cli {
namespace {

// `smdebug status <run>`: what a run holds and how it fares.
class StatusCommand final : public Command {
 public:
  std::string_view name() const override { return "status"; }
  std::string_view summary() const override {
    return "Show what a run holds, how it is doing, and what was lost or "
           "damaged.";
  }
  std::string_view examples() const override {
    return "  smdebug status ./run\n"
           "  smdebug status --json ./run | jq .damage\n"
           "  smdebug status ./run > /dev/null || echo 'the run has trouble'\n";
  }
  std::vector<ExitCode> exit_codes() const override {
    return {
        {kExitOk, "nothing is damaged, dropped or lost, and no write failed"},
        {kExitFound, "something is; stalls and skipped tensors do not count"},
        {kExitError, "the path is missing, is a file, or holds no run"}};
  }
  std::string_view details() const override {
    return R"(Reads every index file and the sizes of the event files, but no values; `verify` reads those.

```
$ smdebug status ./run
run       /home/ada/run
state     running: worker_0 last updated 3 s ago
id        8b3c6f0e-5d0a-4c07-9a3e-2f41c7d9b6aa
workers   1 of 1 (worker_0)
steps     101 (0..1000)
tensors   21
values    2020
size      15.3 MiB
scalars   1001
stalls    2 (0.25 s)
dropped   0
skipped   1
errors    0
lost      0
trouble   worker_0, kind: tensor 'ids' is a string tensor of rank 2; only rank 1 can be saved
damage    none
```

| Line | Meaning |
|---|---|
| `state` | `finished`, `failed` (an exception passed), `interrupted` (a signal ended it), `killed` (a process that wrote it ended without closing it), with the reason; `running`, with who writes, and who is gone; `unknown`: the folder seems to be a copy of one that is being written; `no end marker`: there is no ledger that says more. A finished run whose end marker is missing says so. On another machine a process counts as gone when its ledger has not changed for five minutes. |
| `id` | the identity of the run; runs of smdebug 1.0 have none |
| `workers` | workers with files, of those declared |
| `steps` | steps that at least one worker saved, the first and the last |
| `tensors` | how many tensors there are, by name, as `smdebug ls` lists them |
| `values` | what was saved of them: a tensor or a reduction at a step, each counts; scalars have a line of their own |
| `size` | bytes of the event files |
| `scalars` ... `lost` | sums over the [ledgers](../formats/run-folder.md). If there is none, as in runs of smdebug 1.0, or none that can be read, one line says so. |
| `trouble` | the first messages from the ledgers |
| `damage` | files that are not what they should be, and why. The first five are shown. |

With more than one worker a table follows, one row per worker.

Damage is: an index, collections or ledger file that cannot be understood; the ledger of a worker that saved steps, if it is missing (runs of smdebug 1.0 have none); an event file that an index names and that is missing, or shorter than
the index says; steps that the ledger of a worker counts, which has closed or is gone, and that are not there; the collections file of a worker that saved steps and has closed, if it is missing; a symbolic link in place of a folder or file of the run, for none is
followed below its folder. An event file without an index is a step being written, and `.tmp` files are ignored.

| Key in JSON | Value |
|---|---|
| `run` | path of the folder |
| `id` | identity of the run; empty for runs of smdebug 1.0 |
| `state` | `running`, `finished`, `failed`, `interrupted`, `killed` or `unknown` |
| `reason` | why it failed, who is gone, or why the end marker is missing; may be empty |
| `well` | whether the exit code is 0 |
| `ended` | whether the end marker is there |
| `num_workers` | as declared; 0 if no collections file says |
| `steps`, `first_step`, `last_step` | over all workers; the last two are null without steps |
| `tensors`, `values`, `bytes` | over all workers |
| `ledgers` | how many there are; the next keys are sums over them |
| `scalars`, `stalls`, `stalled_seconds`, `dropped`, `skipped`, `errors`, `lost` | |
| `workers` | list of objects: `worker`, `steps`, `first_step`, `last_step`, `values`, `bytes`, `ledger` |
| `workers[].ledger` | null, or `run`, `job`, `host`, `pid`, `started`, `updated`, `closed`, `gone` (its process is, and it has not closed), `ending`, `reason`, `last_step` and the same counters, and `messages` |
| `damage` | list of objects: `file`, `reason` |
)";
  }

  void Declare(CLI::App& app) override {
    AddRun(app, run_);
    AddJson(app, json_);
  }

  int Run(Streams streams) override {
    const auto storage = query::OpenFolder(run_);
    const query::RunStatus status =
        query::ReadStatus(*storage, base::WallSeconds());
    if (json_) {
      PrintJson(streams.out, query::ToJson(status));
    } else {
      streams.out << StatusText(status, streams.out_terminal);
    }
    return status.well() ? kExitOk : kExitFound;
  }

 private:
  std::string run_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> MakeStatusCommand() {
  return std::make_unique<StatusCommand>();
}

}  // namespace smdebug::cli
