#include "src/cli/output/junit.h"

#include <algorithm>

#include <fmt/format.h>

#include "src/cli/output/rule_text.h"
#include "src/cli/output/text.h"
#include "src/rules/reports/xml.h"

namespace smdebug::cli {
namespace {

std::string CaseText(const RuleReport& report) {
  std::string text =
      fmt::format("    <testcase classname=\"smdebug.rules\" name=\"{}\"",
                  rules::EscapeXml(Printable(report.name)));
  const std::string details = rules::EscapeXml(Printable(report.details));
  switch (report.status) {
    case RuleStatus::kNoIssuesFound:
      return text + "/>\n";
    case RuleStatus::kIssuesFound:
      text += fmt::format(">\n      <failure message=\"{}\">", details);
      for (const Finding& finding : report.findings) {
        text += rules::EscapeXml(FindingText(finding)) + '\n';
      }
      text += "</failure>\n";
      break;
    case RuleStatus::kInProgress:
    case RuleStatus::kStopped:
      text += ">\n      <skipped/>\n";
      break;
    case RuleStatus::kError:
      text += fmt::format(">\n      <error message=\"{}\"/>\n", details);
      break;
  }
  return text + "    </testcase>\n";
}

}  // namespace

std::string JunitText(std::span<const RuleReport> reports,
                      const std::string& run) {
  const auto count = [&](RuleStatus status) {
    return std::ranges::count(reports, status, &RuleReport::status);
  };
  std::string text = fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n"
      "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" "
      "skipped=\"{}\">\n",
      rules::EscapeXml(Printable(run)), reports.size(),
      count(RuleStatus::kIssuesFound), count(RuleStatus::kError),
      count(RuleStatus::kStopped));
  for (const RuleReport& report : reports) text += CaseText(report);
  return text + "  </testsuite>\n</testsuites>\n";
}

}  // namespace smdebug::cli
