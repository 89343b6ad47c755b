#include <algorithm>
#include <iterator>
#include <memory>
#include <ostream>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "src/cli/command.h"
#include "src/cli/options.h"
#include "src/cli/output/json_output.h"
#include "src/cli/output/progress.h"
#include "src/cli/output/text.h"
#include "src/query/open_run.h"
#include "src/query/verify_run.h"

namespace smdebug::cli {
namespace {

using query::VerifyResult;

// What is shown of a long list; the rest is counted.
constexpr size_t kMostShown = 100;

std::string ChecksumText(const VerifyResult& result) {
  const int64_t with = result.values - result.without_checksum;
  if (result.values == 0) return "none: there are no values";
  if (result.without_checksum == 0) {
    return with == 1 ? "the only value has one"
                     : fmt::format("all {} values have one", with);
  }
  return fmt::format(
      "{} with, {} without (as smdebug 1.0 writes them): of those only "
      "framing and content could be checked",
      Counted(with, "value"), result.without_checksum);
}

// One for each file and reason, with the values that it costs.
std::vector<std::string> DamageLines(std::span<const Damage> damage) {
  constexpr size_t kMostNames = 3;
  std::vector<std::string> lines;
  while (!damage.empty()) {
    const Damage& first = damage.front();
    // A scalar can lie there once for each of several steps.
    std::vector<std::pair<std::string, int64_t>> tensors;
    size_t values = 0;
    for (const Damage& one : damage) {
      if (one.file != first.file || one.reason != first.reason) break;
      ++values;
      const auto known = std::ranges::find(
          tensors, one.tensor, &std::pair<std::string, int64_t>::first);
      if (known == tensors.end()) {
        tensors.emplace_back(one.tensor, 1);
      } else {
        ++known->second;
      }
    }
    damage = damage.subspan(values);
    std::vector<std::string> names;
    names.reserve(tensors.size());
    for (const auto& [tensor, count] : tensors) {
      names.push_back(count == 1
                          ? fmt::format("'{}'", tensor)
                          : fmt::format("'{}' of {} steps", tensor, count));
    }
    std::string line = fmt::format("{}: {}", first.file, first.reason);
    if (!first.tensor.empty()) {
      line += fmt::format(
          "; {} {} lost: {}", Counted(static_cast<int64_t>(values), "value"),
          values == 1 ? "is" : "are", JoinSome(names, kMostNames));
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

void PrintText(const VerifyResult& result, Streams streams) {
  const auto line = [&](std::string_view label, const std::string& text) {
    streams.out << FitLines(fmt::format("{:<10} {}\n", label, Printable(text)),
                            streams.out_terminal, /*indent=*/11);
  };
  const auto more = [&](size_t all) {
    if (all <= kMostShown) return;
    line("", fmt::format("... and {} more; --json lists them all",
                         all - kMostShown));
  };
  line("run", result.run);
  line("files", fmt::format("{}, {}", Counted(result.index_files, "index file"),
                            Counted(result.event_files, "event file")));
  line("values",
       fmt::format("{}, {}", result.values, HumanBytes(result.bytes)));
  line("checksums", ChecksumText(result));
  for (size_t i = 0; i < std::min(result.unchecked.size(), kMostShown); ++i) {
    const VerifyResult::Unchecked& one = result.unchecked[i];
    line(i == 0 ? "unchecked" : "",
         fmt::format("{}: belongs to {}, which is damaged", one.file,
                     one.index));
  }
  more(result.unchecked.size());
  for (size_t i = 0; i < std::min(result.leftovers.size(), kMostShown); ++i) {
    line(i == 0 ? "leftover" : "",
         fmt::format("{}: no index names it, as a killed writer leaves it; "
                     "not damage",
                     result.leftovers[i]));
  }
  more(result.leftovers.size());
  if (result.damage.empty()) {
    line("damage", "none");
    return;
  }
  const std::vector<std::string> places = DamageLines(result.damage);
  streams.out << fmt::format(
      "{:<10} {}\n", "damage",
      Paint(streams.out_terminal, Colour::kRed,
            Counted(static_cast<int64_t>(places.size()), "place")));
  for (size_t i = 0; i < std::min(places.size(), kMostShown); ++i) {
    line("", places[i]);
  }
  more(places.size());
}

// `smdebug verify <run>`: reads everything and checks every checksum.
class VerifyCommand final : public Command {
 public:
  std::string_view name() const override { return "verify"; }
  std::string_view summary() const override {
    return "Read every file and value of a run and check every checksum.";
  }
  std::string_view examples() const override {
    return "  smdebug verify ./run\n"
           "  smdebug verify ./run > /dev/null && rm -r ./copy-of-run\n"
           "  smdebug verify --json ./run | jq '.damage[].file'\n";
  }
  std::vector<ExitCode> exit_codes() const override {
    return {{kExitOk, "nothing is damaged"},
            {kExitFound, "something is"},
            {kExitError, "there is no run, or it cannot be read"}};
  }
  std::string_view details() const override {
    return R"(Reads the collections, the ledgers, every index file and every event file. Each value must lie where its index says, have the right checksum, decode, and
carry its name; the rest of an event file must be whole records too. Runs of smdebug 1.0 have no checksums: their framing and content are checked, and the
summary says how many values carry none. Values and index files have checksums; collections, ledgers, the claim and the end marker have none: they must be what they should be in form, but
a digit or letter in them that has changed is not noticed.

An event file whose index is damaged cannot be checked: only the index says what it holds. It is named with its index. One that has no index is what a writer leaves that was
killed between the two. It is mentioned, and is not damage, unless a ledger counts more steps than there are: then its index is gone. `.tmp` files are ignored.

A step that the ledger of a worker counts and that is not there is damage. So is a symbolic link in place of a folder or file of a run: none is followed. To keep a run on another
disk, move all of it; the folder of the run itself may be a link.

JSON: `run`, `well`, `index_files`, `event_files`, `values` (scalars among them), `bytes` (of the event files), `with_checksum`, `without_checksum`, `unchecked` (a list of objects with `file` and
`index`), `leftovers` (a list of files), and `damage`, a list of objects with `file`, `tensor` (null for the file as a whole) and `reason`.
)";
  }

  void Declare(CLI::App& app) override {
    AddRun(app, run_);
    AddJson(app, json_);
  }

  int Run(Streams streams) override {
    const auto storage = query::OpenFolder(run_);
    VerifyResult result;
    {
      Progress progress(streams.err, streams.err_terminal,
                        Progress::Unit::kBytes, query::BytesToVerify(*storage));
      result = query::VerifyRun(*storage,
                                [&](uint64_t bytes) { progress.Add(bytes); });
    }
    if (json_) {
      PrintJson(streams.out, query::ToJson(result));
    } else {
      PrintText(result, streams);
    }
    return result.damage.empty() ? kExitOk : kExitFound;
  }

 private:
  std::string run_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> MakeVerifyCommand() {
  return std::make_unique<VerifyCommand>();
}

}  // namespace smdebug::cli
