#include <filesystem>
#include <memory>
#include <ostream>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "smdebug/error.h"
#include "smdebug/storage.h"
#include "src/base/clock.h"
#include "src/cli/command.h"
#include "src/cli/status_report.h"

namespace smdebug::cli {
namespace {

// The folder of a run. Throws Error in one sentence if there is none.
std::unique_ptr<Storage> OpenFolder(const std::string& run) {
  std::unique_ptr<Storage> storage;
  try {
    storage = OpenStorage(run);
  } catch (const IoError& error) {
    throw Error(
        fmt::format("{}: is a file; give the folder of the run (its out_dir)",
                    error.path()));
  }
  if (!std::filesystem::exists(storage->root())) {
    throw Error(fmt::format("{}: there is no such folder", storage->root()));
  }
  return storage;
}

// `smdebug status <run>`: what a run holds and how it fares.
class StatusCommand final : public Command {
 public:
  std::string_view name() const override { return "status"; }
  std::string_view summary() const override {
    return "Show what a run holds, how it fares and what was lost or damaged.";
  }
  std::string_view examples() const override {
    return "  smdebug status ./run\n"
           "  smdebug status --json ./run | jq .damage\n"
           "  smdebug status ./run > /dev/null || echo 'the run has trouble'\n"
           "\n"
           "Exit codes: 0 all is well; 1 something is damaged, dropped, lost\n"
           "or failed; 2 a wrong call, or no run there.";
  }

  void Declare(CLI::App& app) override {
    app.add_option("run", run_, "Folder of the run: the hook's out_dir")
        ->required();
    app.add_flag("--json", json_, "Print one JSON object");
  }

  int Run(Streams streams) override {
    const auto storage = OpenFolder(run_);
    const index::RunSummary run = index::SummarizeRun(*storage);
    const double now = base::WallSeconds();
    if (json_) {
      streams.out << StatusJson(run, storage->root(), now) << '\n';
    } else {
      streams.out << StatusText(run, storage->root(), now);
    }
    return IsWell(run) ? kExitOk : kExitFound;
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
