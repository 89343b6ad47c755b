#include "src/query/tensor_report.h"

#include <algorithm>

#include <fmt/format.h>

#include "smdebug/error.h"
#include "src/query/text.h"

namespace smdebug::query {
namespace {

Json CountsJson(const ValueCounts& counts) {
  return {{"count", counts.count},
          {"zero", counts.zero},
          {"nan", counts.nan},
          {"pos_inf", counts.pos_inf},
          {"neg_inf", counts.neg_inf}};
}

}  // namespace

std::optional<DType> TensorReport::dtype() const {
  if (value) return value->dtype();
  if (counts) return counts->dtype;
  return std::nullopt;
}

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

Json ToJson(const TensorReport& report, int64_t most_values) {
  const auto dtype = report.dtype();
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
    json["statistics"] = ToJson(*report.summary);
    json["histogram"] = ToJson(CountBins(view, *report.summary, kReportBins));
  }
  if (view.size() <= most_values) json["values"] = JsonArray(view);
  return json;
}

}  // namespace smdebug::query
