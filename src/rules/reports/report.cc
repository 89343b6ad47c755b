#include <algorithm>
#include <iterator>

#include "smdebug/invoker.h"
#include "src/base/json_writer.h"
#include "src/rules/reports/finding_json.h"

namespace smdebug {
namespace {

// Makes one of the two neighbours that have the fewest steps between them.
void JoinNearest(std::vector<FiredRange>& ranges) {
  auto nearest = ranges.begin();
  for (auto it = nearest; std::next(it) != ranges.end(); ++it) {
    const auto gap = [](auto row) { return std::next(row)->first - row->last; };
    if (gap(it) < gap(nearest)) nearest = it;
  }
  const auto second = std::next(nearest);
  nearest->last = second->last;
  nearest->judged = second->judged;
  nearest->count += second->count;
  ranges.erase(second);
}

}  // namespace

std::string_view StatusName(RuleStatus status) noexcept {
  switch (status) {
    case RuleStatus::kInProgress:
      return "InProgress";
    case RuleStatus::kNoIssuesFound:
      return "NoIssuesFound";
    case RuleStatus::kIssuesFound:
      return "IssuesFound";
    case RuleStatus::kError:
      return "Error";
    case RuleStatus::kStopped:
      return "Stopped";
  }
  return "";
}

void RuleReport::Add(const std::vector<Finding>& found) {
  for (const Finding& finding : found) {
    AddStep(finding.step);
    ++findings_total;
    if (findings.size() < kMostFindings) findings.push_back(finding);
  }
}

void RuleReport::AddStep(int64_t step) {
  const bool is_known =
      !fired_ranges.empty() && fired_ranges.back().last == step;
  if (step < 0 || is_known) return;
  ++fired_total;
  if (fired_steps.size() < kMostSteps) fired_steps.push_back(step);
  if (!fired_ranges.empty() && fired_ranges.back().judged + 1 >= steps_judged) {
    FiredRange& row = fired_ranges.back();
    row.last = step;
    row.judged = steps_judged;
    ++row.count;
    return;
  }
  fired_ranges.push_back(
      {.first = step, .last = step, .count = 1, .judged = steps_judged});
  if (fired_ranges.size() > kMostRanges) JoinNearest(fired_ranges);
}

void RuleReport::CatchUpWith(const RuleReport& later) {
  const auto append = [](const auto& from, auto& to) {
    to.insert(to.end(), from.begin() + std::ssize(to), from.end());
  };
  append(later.findings, findings);
  append(later.fired_steps, fired_steps);
  fired_ranges = later.fired_ranges;
  name = later.name;
  rule = later.rule;
  status = later.status;
  details = later.details;
  fired_total = later.fired_total;
  findings_total = later.findings_total;
  steps_judged = later.steps_judged;
  last_step = later.last_step;
  ended = later.ended;
  refused = later.refused;
  unreadable_steps = later.unreadable_steps;
  unreadable = later.unreadable;
  files = later.files;
}

std::string ToJson(const RuleReport& report) {
  base::JsonWriter json;
  json.BeginObject();
  json.Key("name").String(report.name);
  json.Key("rule").String(report.rule);
  json.Key("status").String(StatusName(report.status));
  json.Key("details").String(report.details);
  json.Key("fired_total").Int(report.fired_total);
  json.Key("fired_steps").BeginArray();
  for (const int64_t step : report.fired_steps) json.Int(step);
  json.EndArray();
  json.Key("fired_ranges").BeginArray();
  for (const FiredRange& range : report.fired_ranges) {
    json.BeginArray().Int(range.first).Int(range.last).Int(range.count);
    json.EndArray();
  }
  json.EndArray();
  json.Key("findings_total").Int(report.findings_total);
  json.Key("findings").BeginArray();
  for (const Finding& finding : report.findings) {
    rules::AppendFinding(finding, json);
  }
  json.EndArray();
  json.Key("steps_judged").Int(report.steps_judged);
  json.Key("last_step");
  if (report.last_step < 0) {
    json.Null();
  } else {
    json.Int(report.last_step);
  }
  json.Key("ended").Bool(report.ended);
  json.Key("refused").Bool(report.refused);
  json.Key("files").BeginArray();
  for (const std::string& file : report.files) json.String(file);
  json.EndArray();
  json.EndObject();
  return json.Take();
}

}  // namespace smdebug
