#include "src/query/rule_results.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "src/run/keys.h"

namespace smdebug::query {
namespace {

// nullopt if `report` is none.
std::optional<RuleResult> ResultOf(Json report) {
  const auto text = [&](std::string_view key) {
    const auto it = report.find(key);
    return it != report.end() && it->is_string()
               ? std::optional(it->get<std::string>())
               : std::nullopt;
  };
  if (!report.is_object()) return std::nullopt;
  const auto name = text("name");
  const auto status = text("status");
  if (!name || !status) return std::nullopt;
  RuleResult result = {.name = *name,
                       .status = *status,
                       .details = text("details").value_or("")};
  const auto total = report.find("findings_total");
  if (total != report.end() && total->is_number_integer()) {
    result.findings_total = total->get<int64_t>();
  }
  const auto refused = report.find("refused");
  result.refused = refused != report.end() && *refused == true;
  result.report = std::move(report);
  return result;
}

// Reports that do not say which run they are about count as this one's.
bool IsAboutAnother(const Json& report, std::string_view run) {
  static const Json::json_pointer kRun("/question/run");
  if (!report.is_object() || !report.contains(kRun)) return false;
  return report[kRun] != run;
}

}  // namespace

RuleResults ReadRuleResults(const Storage& storage, std::string_view run) {
  RuleResults results;
  for (const FileInfo& file : storage.List(run::kRulesPrefix)) {
    if (!run::IsRuleReportKey(file.key)) continue;
    const std::optional<Blob> blob = storage.Read(file.key);
    if (!blob) continue;  // Moved aside by another job since it was listed.
    Json report = Json::parse(blob->text(), nullptr, false);
    if (IsAboutAnother(report, run)) continue;
    auto result = ResultOf(std::move(report));
    if (result) {
      results.rules.push_back(std::move(*result));
    } else {
      results.damage.push_back({file.key, "is no report of a rule"});
    }
  }
  std::ranges::sort(results.rules, {}, &RuleResult::name);
  return results;
}

Json ToJson(const RuleResults& results) {
  Json rules = Json::array();
  for (const RuleResult& result : results.rules) rules.push_back(result.report);
  Json damage = Json::array();
  for (const Damage& one : results.damage) {
    damage.push_back({{"file", one.file}, {"reason", one.reason}});
  }
  return {{"rules", std::move(rules)}, {"damage", std::move(damage)}};
}

}  // namespace smdebug::query
