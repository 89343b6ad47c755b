#include <cmath>
#include <utility>

#include <nlohmann/json.hpp>

#include "smdebug/invoker.h"

namespace smdebug {
namespace {

using Json = nlohmann::ordered_json;

// JSON has no NaN and no infinities; they are texts.
Json NumberJson(double number) {
  if (std::isnan(number)) return "NaN";
  if (std::isinf(number)) return number > 0 ? "Infinity" : "-Infinity";
  return number;
}

Json FindingJson(const Finding& finding) {
  return {{"step", finding.step < 0 ? Json() : Json(finding.step)},
          {"mode", ModeName(finding.mode)},
          {"tensor", finding.tensor},
          {"worker", finding.worker},
          {"value", NumberJson(finding.value)},
          {"threshold", NumberJson(finding.threshold)},
          {"message", finding.message}};
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
  Json findings = Json::array();
  for (const Finding& finding : report.findings) {
    findings.push_back(FindingJson(finding));
  }
  const Json json = {
      {"name", report.name},
      {"rule", report.rule},
      {"status", StatusName(report.status)},
      {"details", report.details},
      {"fired_steps", report.fired_steps},
      {"findings_total", report.findings_total},
      {"findings", std::move(findings)},
      {"steps_judged", report.steps_judged},
      {"last_step", report.last_step < 0 ? Json() : Json(report.last_step)},
      {"ended", report.ended}};
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace smdebug
