#include "src/cli/output/status_text.h"

#include <algorithm>
#include <iterator>
#include <vector>

#include <fmt/format.h>

#include "src/cli/output/text.h"

namespace smdebug::cli {
namespace {

using query::RunStatus;
using query::RunSummary;
using query::RunTotals;
using query::WorkerSummary;

// What is shown of a long list; the rest is counted.
constexpr size_t kMaxMessages = 5;
constexpr size_t kMaxDamage = 5;
constexpr size_t kMaxWorkers = 16;

// Lines of a label and a text. One thread at a time.
class Screen {
 public:
  void Line(std::string_view label, std::string_view text) {
    fmt::format_to(std::back_inserter(out_), "{:<9} {}\n", label,
                   Printable(text));
  }
  void More(size_t hidden) {
    if (hidden > 0) Line("", fmt::format("... and {} more", hidden));
  }
  void Raw(std::string_view text) { out_ += text; }
  std::string Take() { return std::move(out_); }

 private:
  std::string out_;
};

std::string StateText(const RunStatus& status) {
  std::string open;
  for (const WorkerSummary& worker : status.summary.workers) {
    if (!worker.ledger || worker.ledger->closed) continue;
    if (!open.empty()) open += ", ";
    open += fmt::format("{} last updated {} ago", worker.worker,
                        HumanAge(status.now - worker.ledger->updated));
  }
  const RunInfo& info = status.summary.info;
  switch (info.state) {
    case RunState::kFinished:
      return open.empty() ? "finished" : "finished; not closed: " + open;
    case RunState::kRunning:
      return open.empty() ? "running" : "running: " + open;
    case RunState::kUnknown:
      return "no end marker: still running, or ended without closing";
    default:
      return fmt::format("{}{}{}", RunStateName(info.state),
                         info.reason.empty() ? "" : ": ", info.reason);
  }
}

std::string WorkersText(const RunSummary& summary) {
  std::string text = fmt::format("{}", summary.workers.size());
  if (summary.num_workers > 0) {
    text += fmt::format(" of {}", summary.num_workers);
  }
  if (summary.workers.size() == 1) {
    text += fmt::format(" ({})", summary.workers.front().worker);
  }
  return text;
}

std::string StepsText(int64_t count, int64_t first, int64_t last) {
  return count == 0 ? "0" : fmt::format("{} ({}..{})", count, first, last);
}

void AddCounters(const RunStatus& status, Screen& screen) {
  const RunTotals& totals = status.totals;
  if (totals.ledgers == 0) {
    const bool is_damaged =
        std::ranges::find(status.summary.damage, DamageKind::kBadLedger,
                          &Damage::kind) != status.summary.damage.end();
    screen.Line(
        "ledger",
        fmt::format("{}, so what was dropped or lost is not known",
                    is_damaged ? "damaged" : "none (written by smdebug 1.0?)"));
    return;
  }
  const HookStats& stats = totals.stats;
  screen.Line("scalars", fmt::format("{}", stats.scalars_saved));
  screen.Line("stalls", fmt::format("{} ({:.2f} s)", stats.stalls,
                                    stats.stalled_seconds));
  screen.Line("dropped", fmt::format("{}", stats.dropped));
  screen.Line("skipped", fmt::format("{}", stats.skipped));
  screen.Line("errors", fmt::format("{}", stats.errors));
  screen.Line("lost", fmt::format("{}", stats.lost));
}

void AddMessages(const RunSummary& summary, Screen& screen) {
  std::vector<std::string> lines;
  for (const WorkerSummary& worker : summary.workers) {
    if (!worker.ledger) continue;
    for (const auto& [kind, message] : worker.ledger->messages) {
      lines.push_back(fmt::format("{}, {}: {}", worker.worker, kind, message));
    }
  }
  const size_t shown = std::min(lines.size(), kMaxMessages);
  for (size_t i = 0; i < shown; ++i) {
    screen.Line(i == 0 ? "trouble" : "", lines[i]);
  }
  screen.More(lines.size() - shown);
}

void AddDamage(const std::vector<Damage>& damage, Screen& screen) {
  screen.Line("damage",
              damage.empty()
                  ? std::string("none")
                  : fmt::format("{} {}", damage.size(),
                                damage.size() == 1 ? "file" : "files"));
  const size_t shown = std::min(damage.size(), kMaxDamage);
  for (size_t i = 0; i < shown; ++i) {
    screen.Line("", fmt::format("{}: {}", damage[i].file, damage[i].reason));
  }
  screen.More(damage.size() - shown);
}

void AddWorkerTable(const RunSummary& summary, Screen& screen) {
  size_t width = std::string_view("worker").size();
  const size_t shown = std::min(summary.workers.size(), kMaxWorkers);
  for (size_t i = 0; i < shown; ++i) {
    width = std::max(width, summary.workers[i].worker.size());
  }
  constexpr auto kRow =
      "{:<{}}  {:>22}  {:>9}  {:>10}  {:>7}  {:>7}  {:>7}  {:>6}  {:>5}  {}\n";
  screen.Raw("\n");
  screen.Raw(fmt::format(kRow, "worker", width, "steps", "tensors", "size",
                         "scalars", "dropped", "skipped", "errors", "lost",
                         "closed"));
  for (size_t i = 0; i < shown; ++i) {
    const WorkerSummary& worker = summary.workers[i];
    const run::Ledger ledger = worker.ledger.value_or(run::Ledger{});
    const HookStats& stats = ledger.stats;
    const std::string_view closed = !worker.ledger  ? "?"
                                    : ledger.closed ? "yes"
                                                    : "no";
    screen.Raw(fmt::format(
        kRow, Printable(worker.worker), width,
        StepsText(worker.steps, worker.first_step, worker.last_step),
        worker.tensors, HumanBytes(worker.bytes), stats.scalars_saved,
        stats.dropped, stats.skipped, stats.errors, stats.lost, closed));
  }
  if (shown < summary.workers.size()) {
    screen.Raw(fmt::format("... and {} more workers; --json lists them all\n",
                           summary.workers.size() - shown));
  }
}

}  // namespace

std::string StatusText(const RunStatus& status) {
  const RunSummary& summary = status.summary;
  const RunTotals& totals = status.totals;
  Screen screen;
  screen.Line("run", status.run);
  screen.Line("state", StateText(status));
  if (!status.summary.info.id.empty()) {
    screen.Line("id", status.summary.info.id);
  }
  screen.Line("workers", WorkersText(summary));
  screen.Line("steps",
              StepsText(summary.steps, totals.first_step, totals.last_step));
  screen.Line("tensors", fmt::format("{}", totals.tensors));
  screen.Line("size", HumanBytes(totals.bytes));
  AddCounters(status, screen);
  AddMessages(summary, screen);
  AddDamage(summary.damage, screen);
  if (summary.workers.size() > 1) AddWorkerTable(summary, screen);
  return screen.Take();
}

}  // namespace smdebug::cli
