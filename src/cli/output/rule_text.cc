#include "src/cli/output/rule_text.h"

#include <fmt/format.h>

#include "src/cli/output/text.h"

namespace smdebug::cli {

std::string FindingText(const Finding& finding) {
  std::string text = finding.step < 0 ? std::string("before any step")
                                      : fmt::format("step {}", finding.step);
  if (finding.mode != Mode::kGlobal) {
    text += fmt::format(" ({})", ModeName(finding.mode));
  }
  if (!finding.tensor.empty()) text += ", " + finding.tensor;
  text += ": " + finding.message;
  if (!finding.worker.empty()) text += fmt::format(" ({})", finding.worker);
  return Printable(text);
}

std::string OutcomeText(const std::string& rule, const ActionOutcome& outcome) {
  return Printable(fmt::format("{}: {}{}{}: {}{}{}", rule, outcome.kind,
                               outcome.target.empty() ? "" : " ",
                               outcome.target, ResultName(outcome.result),
                               outcome.detail.empty() ? "" : ": ",
                               outcome.detail));
}

std::vector<std::string> FileLines(const RuleReport& report,
                                   const std::string& run) {
  std::vector<std::string> lines;
  for (const std::string& file : report.files) {
    lines.push_back(Printable(fmt::format("see {}/{}", run, file)));
  }
  return lines;
}

Json ReportJson(const RuleReport& report) {
  return Json::parse(ToJson(report));
}

}  // namespace smdebug::cli
