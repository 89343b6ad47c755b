#include "src/cli/output/tensor_report_text.h"

#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "src/cli/output/array_text.h"
#include "src/cli/output/bars.h"
#include "src/cli/output/text.h"

namespace smdebug::cli {
namespace {

using query::StepId;
using query::TensorReport;
using query::ValueSummary;

// Lines of a label and a text. One thread at a time.
class Lines {
 public:
  explicit Lines(const Terminal& terminal) : terminal_(terminal) {}

  void Add(std::string_view label, std::string_view text) {
    out_ += fmt::format("{:<11} {}\n", label, Printable(text));
  }
  // In red if `count` is not 0.
  void AddAlarm(std::string_view label, int64_t count, std::string_view text) {
    out_ += fmt::format(
        "{:<11} {}\n", label,
        count > 0 ? Paint(terminal_, Colour::kRed, text) : std::string(text));
  }
  void Raw(std::string_view text) { out_ += text; }
  std::string Take() { return std::move(out_); }

 private:
  const Terminal& terminal_;
  std::string out_;
};

std::string ShareText(int64_t part, int64_t whole) {
  if (part == 0 || whole == 0) return fmt::format("{}", part);
  const double percent =
      100 * static_cast<double>(part) / static_cast<double>(whole);
  return fmt::format("{} ({:.3g} %)", part, percent);
}

std::string StepText(const StepId& id) {
  if (id.mode == Mode::kGlobal) return fmt::format("{}", id.step);
  return fmt::format("{} ({} {})", id.step, ModeName(id.mode), id.mode_step);
}

void AddCounts(int64_t count, int64_t zero, int64_t nan, int64_t pos_inf,
               int64_t neg_inf, Lines& lines) {
  lines.Add("count", fmt::format("{}", count));
  lines.Add("zero", ShareText(zero, count));
  lines.AddAlarm("nan", nan, ShareText(nan, count));
  const int64_t inf = pos_inf + neg_inf;
  lines.AddAlarm("inf", inf,
                 inf == 0 ? "0"
                          : fmt::format("{} (+{}, -{})", ShareText(inf, count),
                                        pos_inf, neg_inf));
}

void AddSummary(const ValueSummary& summary, Lines& lines) {
  AddCounts(summary.count, summary.zero, summary.nan, summary.pos_inf,
            summary.neg_inf, lines);
  if (summary.finite() != summary.count) {
    lines.Raw(summary.finite() == 0 ? "no value is finite\n"
                                    : "of the finite values:\n");
  }
  if (summary.finite() == 0) return;
  lines.Add("min", ShortNumber(summary.min));
  lines.Add("max", ShortNumber(summary.max));
  lines.Add("mean", ShortNumber(summary.mean));
  lines.Add("std", ShortNumber(summary.std));
  lines.Add("l2", ShortNumber(summary.l2));
}

}  // namespace

std::string ReportText(const TensorReport& report, const ReportOptions& options,
                       const Terminal& terminal) {
  const bool utf8 = terminal.utf8 && !options.ascii;
  const size_t width = terminal.is_terminal ? terminal.width : 80;
  const auto dtype = report.dtype();
  Lines lines(terminal);
  lines.Add("tensor", report.tensor);
  lines.Add("step", StepText(report.step));
  lines.Add("worker",
            report.workers == 1
                ? report.worker
                : fmt::format("{} (of {})", report.worker, report.workers));
  if (dtype) lines.Add("dtype", DTypeName(*dtype));
  if (report.shape) lines.Add("shape", ShapeText(*report.shape));
  if (report.summary) {
    AddSummary(*report.summary, lines);
  } else if (report.counts) {
    const ValueCounts& counts = *report.counts;
    AddCounts(counts.count, counts.zero, counts.nan, counts.pos_inf,
              counts.neg_inf, lines);
  }
  if (!report.reductions.empty()) lines.Raw("\nsaved reductions:\n");
  for (const auto& [reduction, value] : report.reductions) {
    lines.Add(ReductionName(reduction), ShortNumber(value));
  }
  if (!report.value) {
    if (report.reductions.empty()) {
      lines.Raw("\nonly the shape was saved\n");
    }
    return lines.Take();
  }
  const TensorView view = report.value->view();
  if (report.summary && report.summary->finite() > 1) {
    lines.Raw("\n");
    lines.Raw(
        BarsText(query::CountBins(view, *report.summary, query::kReportBins),
                 width, utf8));
  }
  if (options.values > 0) {
    lines.Raw("\n");
    lines.Raw(ArrayText(view, options.values, width - 2));
    lines.Raw("\n");
  }
  return lines.Take();
}

}  // namespace smdebug::cli
