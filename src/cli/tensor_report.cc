#include "src/cli/tensor_report.h"

#include <algorithm>

#include <fmt/format.h>

#include "smdebug/error.h"
#include "src/cli/array_text.h"
#include "src/cli/text.h"

namespace smdebug::cli {
namespace {

constexpr size_t kBins = 16;

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

std::string Share(int64_t part, int64_t whole) {
  if (part == 0 || whole == 0) return fmt::format("{}", part);
  const double percent =
      100 * static_cast<double>(part) / static_cast<double>(whole);
  return fmt::format("{} ({:.2g} %)", part, percent);
}

std::string StepText(const StepId& id) {
  if (id.mode == Mode::kGlobal) return fmt::format("{}", id.step);
  return fmt::format("{} ({} {})", id.step, ModeName(id.mode), id.mode_step);
}

void AddCounts(int64_t count, int64_t zero, int64_t nan, int64_t pos_inf,
               int64_t neg_inf, Lines& lines) {
  lines.Add("count", fmt::format("{}", count));
  lines.Add("zero", Share(zero, count));
  lines.AddAlarm("nan", nan, Share(nan, count));
  const int64_t inf = pos_inf + neg_inf;
  lines.AddAlarm("inf", inf,
                 inf == 0 ? "0"
                          : fmt::format("{} (+{}, -{})", Share(inf, count),
                                        pos_inf, neg_inf));
}

void AddSummary(const ValueSummary& summary, Lines& lines) {
  AddCounts(summary.count, summary.zero, summary.nan, summary.pos_inf,
            summary.neg_inf, lines);
  if (summary.finite() != summary.count) {
    lines.Raw("of the finite values:\n");
  }
  lines.Add("min", ShortNumber(summary.min));
  lines.Add("max", ShortNumber(summary.max));
  lines.Add("mean", ShortNumber(summary.mean));
  lines.Add("std", ShortNumber(summary.std));
  lines.Add("l2", ShortNumber(summary.l2));
}

Json SummaryJson(const ValueSummary& summary) {
  return {{"count", summary.count},
          {"zero", summary.zero},
          {"nan", summary.nan},
          {"pos_inf", summary.pos_inf},
          {"neg_inf", summary.neg_inf},
          {"min", JsonNumber(summary.min)},
          {"max", JsonNumber(summary.max)},
          {"mean", JsonNumber(summary.mean)},
          {"std", JsonNumber(summary.std)},
          {"l2", JsonNumber(summary.l2)}};
}

Json CountsJson(const ValueCounts& counts) {
  return {{"count", counts.count},
          {"zero", counts.zero},
          {"nan", counts.nan},
          {"pos_inf", counts.pos_inf},
          {"neg_inf", counts.neg_inf}};
}

Json BinsJson(const TensorView& tensor, const ValueSummary& summary) {
  Json bins = Json::array();
  for (const Bin& bin : CountBins(tensor, summary, kBins)) {
    bins.push_back(
        {{"low", bin.low}, {"high", bin.high}, {"count", bin.count}});
  }
  return bins;
}

std::optional<DType> TypeOf(const TensorReport& report) {
  if (report.value) return report.value->dtype();
  if (report.counts) return report.counts->dtype;
  return std::nullopt;
}

}  // namespace

TensorReport ReadReport(Trial& trial, const Tensor& tensor, int64_t step,
                        Mode mode, const std::optional<std::string>& worker) {
  const std::vector<std::string> workers = tensor.Workers(step, mode);
  if (worker && std::ranges::find(workers, *worker) == workers.end()) {
    throw Error(fmt::format("worker '{}' saved nothing of '{}' at step {}; {}",
                            *worker, tensor.name(), step,
                            Join(workers) + " did"));
  }
  TensorReport report = {.tensor = tensor.name(),
                         .step = IdentifyStep(trial, step, mode),
                         .worker = worker.value_or(workers.front()),
                         .workers = static_cast<int64_t>(workers.size())};
  const WorkerName who = report.worker;
  const Tensor::Saved saved = tensor.SavedAt(step, mode, who);
  if (saved.value) {
    report.value = tensor.At(step, mode, who);
    const Value& value = *report.value;
    report.shape = {value.shape().begin(), value.shape().end()};
    if (value.dtype() != DType::kString) {
      report.summary = Summarize(value.view());
    }
  } else if (saved.shape) {
    report.shape = tensor.Shape(step, mode, who);
  }
  report.reductions = tensor.ReductionValues(step, mode, who);
  report.counts = tensor.Counts(step, mode, who);
  return report;
}

std::string ReportText(const TensorReport& report, const ReportOptions& options,
                       const Terminal& terminal) {
  const bool utf8 = terminal.utf8 && !options.ascii;
  const size_t width = terminal.is_terminal ? terminal.width : 80;
  const auto dtype = TypeOf(report);
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
    lines.Raw(BarsText(CountBins(view, *report.summary, kBins), width, utf8));
  }
  if (options.values > 0) {
    lines.Raw("\n");
    lines.Raw(ArrayText(view, options.values, width - 2));
    lines.Raw("\n");
  }
  return lines.Take();
}

Json ReportJson(const TensorReport& report, const ReportOptions& options) {
  const auto dtype = TypeOf(report);
  Json reductions = Json::object();
  for (const auto& [reduction, value] : report.reductions) {
    reductions[ReductionName(reduction)] = JsonNumber(value);
  }
  Json json = {{"tensor", report.tensor},
               {"step", report.step.step},
               {"mode", ModeName(report.step.mode)},
               {"mode_step", report.step.mode_step},
               {"worker", report.worker},
               {"dtype", dtype ? Json(DTypeName(*dtype)) : Json()},
               {"shape", report.shape ? Json(*report.shape) : Json()},
               {"statistics", nullptr},
               {"counts", nullptr},
               {"reductions", std::move(reductions)},
               {"histogram", nullptr},
               {"values", nullptr}};
  if (report.counts) json["counts"] = CountsJson(*report.counts);
  if (!report.value) return json;
  const TensorView view = report.value->view();
  if (report.summary) {
    json["statistics"] = SummaryJson(*report.summary);
    json["histogram"] = BinsJson(view, *report.summary);
  }
  if (view.size() <= options.values) json["values"] = JsonArray(view);
  return json;
}

}  // namespace smdebug::cli
