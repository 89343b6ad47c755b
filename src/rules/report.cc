#include <utility>

#include "smdebug/invoker.h"
#include "src/base/finding_json.h"
#include "src/base/json_writer.h"

namespace smdebug {
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

void RuleReport::Add(std::vector<Finding> found) {
  for (Finding& finding : found) {
    const bool is_new =
        fired_steps.empty() || fired_steps.back() != finding.step;
    if (is_new && finding.step >= 0) {
      fired_steps.push_back(finding.step);
    }
    ++findings_total;
    if (findings.size() < kMostFindings) findings.push_back(std::move(finding));
  }
}

std::string ToJson(const RuleReport& report) {
  base::JsonWriter json;
  json.BeginObject();
  json.Key("name").String(report.name);
  json.Key("rule").String(report.rule);
  json.Key("status").String(StatusName(report.status));
  json.Key("details").String(report.details);
  json.Key("fired_steps").BeginArray();
  for (const int64_t step : report.fired_steps) json.Int(step);
  json.EndArray();
  json.Key("findings_total").Int(report.findings_total);
  json.Key("findings").BeginArray();
  for (const Finding& finding : report.findings) {
    base::AppendFinding(finding, json);
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
  json.EndObject();
  return json.Take();
}

}  // namespace smdebug
