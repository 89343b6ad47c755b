#include "src/cli/output/watch_view.h"

#include <algorithm>
#include <ostream>
#include <utility>

#include <fmt/format.h>

#include "src/base/json_writer.h"
#include "src/cli/output/rule_text.h"
#include "src/cli/output/text.h"
#include "src/rules/reports/finding_json.h"

namespace smdebug::cli {
namespace {

constexpr std::chrono::milliseconds kRedrawInterval{100};

// Findings of one fire that get a line of their own.
constexpr size_t kMostLines = 3;

using Evidence = std::map<std::string, std::string, std::less<>>;

Json FindingJson(const std::string& name, const Finding& finding) {
  base::JsonWriter fields;
  rules::AppendFinding(finding, fields);
  Json json = {{"event", "finding"}, {"name", name}};
  json.update(Json::parse(fields.text()));
  return json;
}

std::string StatusText(const RuleReport& report) {
  std::string text(StatusName(report.status));
  if (report.findings_total > 0) {
    text += fmt::format(" at {}", Counted(report.fired_total, "step"));
  }
  return text;
}

// Whether its details are news: those of a rule that fired are its last
// finding.
bool SaysWhy(const RuleReport& report) {
  return report.status != RuleStatus::kIssuesFound && !report.details.empty();
}

// What a report is about, beyond its status; empty: nothing.
std::string WordsOf(const RuleReport& report, const Evidence* evidence) {
  if (evidence == nullptr) return {};
  if (SaysWhy(report)) return Printable(report.details);
  const auto it = evidence->find(report.name);
  return it == evidence->end() ? std::string() : it->second;
}

// A line for each rule; where what it says does not fit beside its status, it
// follows on lines of its own. Without `evidence` nothing is said.
std::vector<std::string> RuleLines(std::span<const RuleReport> reports,
                                   const Evidence* evidence,
                                   const Terminal& terminal) {
  size_t name_width = 0;
  size_t status_width = 0;
  for (const RuleReport& report : reports) {
    name_width = std::max(name_width, TextWidth(Printable(report.name)));
    status_width = std::max(status_width, StatusText(report).size());
  }
  // A full last column would wrap on some terminals.
  const size_t width = std::max<size_t>(terminal.width, 20) - 1;
  constexpr size_t kIndent = 4;
  std::vector<std::string> all;
  for (const RuleReport& report : reports) {
    const std::string name = Printable(report.name);
    const std::string status = StatusText(report);
    const std::string words = WordsOf(report, evidence);
    const std::string label =
        fmt::format("{}{}  {}", name,
                    std::string(name_width - TextWidth(name), ' '), status);
    const std::string whole =
        words.empty()
            ? label
            : fmt::format("{}{}  {}", label,
                          std::string(status_width - status.size(), ' '),
                          words);
    std::vector<std::string> lines;
    if (TextWidth(whole) <= width) {
      lines = {whole};
    } else {
      lines = TextWidth(label) <= width
                  ? std::vector<std::string>{label}
                  : WrapWords(fmt::format("{}  {}", name, status), width);
      for (const std::string& line : WrapWords(words, width - kIndent)) {
        lines.push_back(std::string(kIndent, ' ') + line);
      }
    }
    const bool is_bad = report.status == RuleStatus::kIssuesFound ||
                        report.status == RuleStatus::kError;
    for (const std::string& line : lines) {
      all.push_back(is_bad ? Paint(terminal, Colour::kRed, line) : line);
    }
  }
  return all;
}

}  // namespace

std::string WatchText(
    std::span<const RuleReport> reports, int64_t steps, int64_t last_step,
    const std::map<std::string, std::string, std::less<>>& evidence,
    const Terminal& terminal) {
  const size_t height = std::max<size_t>(terminal.height, 3) - 1;
  std::string head =
      fmt::format("{} judged{}\n", Counted(steps, "step"),
                  last_step < 0 ? std::string()
                                : fmt::format(", the last is {}", last_step));
  std::vector<std::string> lines = RuleLines(reports, &evidence, terminal);
  if (lines.size() + 1 > height) {
    lines = RuleLines(reports, nullptr, terminal);
  }
  if (lines.size() + 1 > height) {
    const auto left = static_cast<int64_t>(lines.size() + 2 - height);
    lines.resize(height - 2);
    lines.push_back(fmt::format("... and {}", Counted(left, "more line")));
  }
  for (const std::string& line : lines) head += line + '\n';
  return head;
}

WatchView::~WatchView() { out_ << notes_ << std::flush; }

void WatchView::Tell(const RuleFire& fire) {
  const std::string& name = fire.evaluation.name;
  evidence_[name] = FindingText(fire.findings.front());
  if (is_live()) {
    next_ = {};
    return;
  }
  const size_t shown =
      json_ ? fire.findings.size() : std::min(fire.findings.size(), kMostLines);
  for (const Finding& finding : fire.findings.first(shown)) {
    if (json_) {
      PrintJsonLine(out_, FindingJson(name, finding));
    } else {
      out_ << Printable(name) << ": " << FindingText(finding) << '\n';
    }
  }
  if (shown < fire.findings.size()) {
    out_ << fmt::format("{}: ... and {} more at this step\n", Printable(name),
                        fire.findings.size() - shown);
  }
  out_.flush();
}

void WatchView::Tell(const std::string& rule, const ActionOutcome& outcome) {
  if (json_) {
    PrintJsonLine(out_, Json{{"event", "action"},
                             {"name", rule},
                             {"action", outcome.kind},
                             {"target", outcome.target},
                             {"outcome", ResultName(outcome.result)},
                             {"detail", outcome.detail}});
  } else if (is_live()) {
    notes_ += OutcomeText(rule, outcome) + '\n';
    return;
  } else {
    out_ << OutcomeText(rule, outcome) << '\n';
  }
  out_.flush();
}

void WatchView::TellPrinted(std::string_view line) {
  // A carriage return begins the line again, as progress bars do.
  const size_t last = line.find_last_not_of('\r');
  line = line.substr(0, last == std::string_view::npos ? 0 : last + 1);
  std::string shown(line.substr(line.find_last_of('\r') + 1));
  std::ranges::replace(shown, '\t', ' ');
  notes_ += Printable(shown) + '\n';
}

void WatchView::Update(const Invoker& invoker) {
  if (!is_live()) return;
  const Clock::time_point now = Clock::now();
  if (now < next_) return;
  next_ = now + kRedrawInterval;
  Draw(invoker.reports(), invoker.steps_judged(), invoker.last_step());
}

void WatchView::Draw(std::span<const RuleReport> reports, int64_t steps,
                     int64_t last_step) {
  const std::string text =
      WatchText(reports, steps, last_step, evidence_, terminal_);
  // Up to the first line, and clear from there.
  if (lines_ > 0) out_ << fmt::format("\x1B[{}A\r\x1B[J", lines_);
  out_ << std::exchange(notes_, {}) << text << std::flush;
  lines_ = static_cast<size_t>(std::ranges::count(text, '\n'));
}

void WatchView::End(const LiveVerdict& verdict) {
  if (is_live()) {
    Draw(verdict.reports, verdict.steps_judged, verdict.last_step);
    return;
  }
  for (const RuleReport& report : verdict.reports) {
    if (json_) {
      Json json = {{"event", "report"}};
      json.update(ReportJson(report));
      PrintJsonLine(out_, json);
    } else {
      out_ << Printable(report.name) << "  " << StatusText(report)
           << (SaysWhy(report) ? "  " + Printable(report.details)
                               : std::string())
           << '\n';
    }
  }
  out_.flush();
}

}  // namespace smdebug::cli
