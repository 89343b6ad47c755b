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
  explicit Screen(const Terminal& terminal) : terminal_(terminal) {}

  // One that someone should look at, if `is_bad`.
  void Line(std::string_view label, std::string_view text,
            bool is_bad = false) {
    const std::string line = fmt::format("{:<9} {}", label, Printable(text));
    out_ += is_bad ? Paint(terminal_, Colour::kRed, line) : line;
    out_ += '\n';
  }
  void Count(std::string_view label, int64_t count, bool is_bad = false) {
    Line(label, fmt::format("{}", count), is_bad);
  }
  void More(size_t hidden) {
    if (hidden > 0) Line("", fmt::format("... and {} more", hidden));
  }
  void Raw(std::string_view text) { out_ += text; }
  std::string Take() { return std::move(out_); }

 private:
  const Terminal terminal_;
  std::string out_;
};

std::string StateText(const RunStatus& status) {
  std::string open;
  for (const WorkerSummary& worker : status.summary.workers) {
    if (!worker.ledger || worker.ledger->closed || worker.gone) continue;
    if (!open.empty()) open += ", ";
    open += fmt::format("{} last updated {} ago", worker.worker,
                        HumanAge(status.now - worker.ledger->updated));
  }
  const RunInfo& info = status.summary.info;
  const std::string why = info.reason.empty() ? "" : "; " + info.reason;
  switch (info.state) {
    case RunState::kFinished:
      return (open.empty() ? "finished" : "finished; not closed: " + open) +
             why;
    case RunState::kRunning:
      return (open.empty() ? "running" : "running: " + open) + why;
    case RunState::kUnknown:
      return info.reason.empty()
                 ? "no end marker: still running, or ended without closing"
                 : "unknown: " + info.reason;
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
    std::string_view what = "none (written by smdebug 1.0?)";
    if (is_damaged) {
      what = "damaged or gone";
    } else if (!status.summary.info.id.empty()) {
      // What has an identity was written by this version.
      what = "missing";
    }
    screen.Line(
        "ledger",
        fmt::format("{}, so what was dropped or lost is not known", what));
    return;
  }
  const bool is_over = status.summary.info.over();
  for (const WorkerSummary& worker : status.summary.workers) {
    if (!worker.ledger || worker.ledger->closed) continue;
    if (!is_over && !worker.gone) continue;
    screen.Line(
        "ledger",
        fmt::format(
            "of {}: last written {}; what was dropped or lost later is not "
            "known",
            worker.worker,
            worker.ledger->last_step < 0
                ? "before the first step"
                : fmt::format("at step {}", worker.ledger->last_step)));
  }
  const HookStats& stats = totals.stats;
  screen.Count("scalars", stats.scalars_saved);
  screen.Line("stalls", fmt::format("{} ({:.2f} s)", stats.stalls,
                                    stats.stalled_seconds));
  screen.Count("dropped", stats.dropped, stats.dropped > 0);
  screen.Count("skipped", stats.skipped);
  screen.Count("errors", stats.errors, stats.errors > 0);
  screen.Count("lost", stats.lost, stats.lost > 0);
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
    screen.Line(i == 0 ? "trouble" : "", lines[i], /*is_bad=*/true);
  }
  screen.More(lines.size() - shown);
}

void AddDamage(const std::vector<Damage>& damage, Screen& screen) {
  screen.Line("damage",
              damage.empty()
                  ? std::string("none")
                  : Counted(static_cast<int64_t>(damage.size()), "file"),
              !damage.empty());
  const size_t shown = std::min(damage.size(), kMaxDamage);
  for (size_t i = 0; i < shown; ++i) {
    screen.Line("", fmt::format("{}: {}", damage[i].file, damage[i].reason),
                /*is_bad=*/true);
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
  screen.Raw(fmt::format(kRow, "worker", width, "steps", "values", "size",
                         "scalars", "dropped", "skipped", "errors", "lost",
                         "closed"));
  for (size_t i = 0; i < shown; ++i) {
    const WorkerSummary& worker = summary.workers[i];
    const run::Ledger ledger = worker.ledger.value_or(run::Ledger{});
    const HookStats stats = worker.stats();
    const std::string_view closed = !worker.ledger  ? "?"
                                    : ledger.closed ? "yes"
                                                    : "no";
    screen.Raw(fmt::format(
        kRow, Printable(worker.worker), width,
        StepsText(worker.steps, worker.first_step, worker.last_step),
        worker.values, HumanBytes(worker.bytes), stats.scalars_saved,
        stats.dropped, stats.skipped, stats.errors, stats.lost, closed));
  }
  if (shown < summary.workers.size()) {
    screen.Raw(fmt::format(
        "... and {}; --json lists them all\n",
        Counted(static_cast<int64_t>(summary.workers.size() - shown),
                "more worker")));
  }
}

}  // namespace

bool IsBadEnd(RunState state) {
  return state == RunState::kFailed || state == RunState::kInterrupted ||
         state == RunState::kKilled;
}

std::string StatusText(const RunStatus& status, const Terminal& terminal) {
  const RunSummary& summary = status.summary;
  const RunTotals& totals = status.totals;
  Screen screen(terminal);
  screen.Line("run", status.run);
  screen.Line("state", StateText(status), IsBadEnd(summary.info.state));
  if (!status.summary.info.id.empty()) {
    screen.Line("id", status.summary.info.id);
  }
  screen.Line("workers", WorkersText(summary));
  screen.Line("steps",
              StepsText(summary.steps, totals.first_step, totals.last_step));
  screen.Count("tensors", summary.tensors);
  screen.Count("values", totals.values);
  screen.Line("size", HumanBytes(totals.bytes));
  AddCounters(status, screen);
  AddMessages(summary, screen);
  AddDamage(summary.damage, screen);
  if (summary.workers.size() > 1) AddWorkerTable(summary, screen);
  return screen.Take();
}

}  // namespace smdebug::cli
