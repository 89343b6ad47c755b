#include "src/query/tensor_list.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "smdebug/error.h"
#include "src/config/nearest.h"
#include "src/query/name_match.h"
#include "src/query/open_run.h"
#include "src/query/text.h"

namespace smdebug::query {
namespace {

// The names of the collections that each tensor is in.
std::map<std::string, std::vector<std::string>> CollectionsByTensor(
    Trial& trial) {
  std::map<std::string, std::vector<std::string>> collections;
  for (const auto& [name, collection] : trial.Collections()) {
    for (const std::string& tensor : trial.TensorNames({.collection = name})) {
      collections[tensor].push_back(name);
    }
  }
  return collections;
}

void RequireCollection(const Trial& trial, const std::string& name) {
  if (trial.FindCollection(name)) return;
  std::vector<std::string> names;
  for (const auto& [known, collection] : trial.Collections()) {
    names.push_back(known);
  }
  throw Error(fmt::format("there is no collection '{}'; {}", name,
                          names.empty()
                              ? "the run names none: it has no collections file"
                              : "expected " + config::OneOf(name, names)));
}

void AddTo(const Tensor::Saved& more, Tensor::Saved& saved) {
  saved.value |= more.value;
  saved.shape |= more.shape;
  for (const Reduction& reduction : more.reductions) {
    if (std::ranges::find(saved.reductions, reduction) ==
        saved.reductions.end()) {
      saved.reductions.push_back(reduction);
    }
  }
}

// Fills in what is known of the type and the shape at `step`. A damaged value
// tells nothing; `smdebug verify` reports it.
void Inspect(const Tensor& tensor, int64_t step, Mode mode, TensorInfo& info) {
  try {
    const Tensor::Saved saved = tensor.SavedAt(step, mode);
    if (saved.value) {
      const Value value = tensor.At(step, mode);
      info.dtype = value.dtype();
      info.shape = {value.shape().begin(), value.shape().end()};
      return;
    }
    if (saved.shape) info.shape = tensor.Shape(step, mode);
    if (const auto counts = tensor.Counts(step, mode)) {
      info.dtype = counts->dtype;
    }
  } catch (const FormatError&) {
  } catch (const TensorUnavailableForStep&) {
  }
}

TensorInfo InfoOf(Trial& trial, const std::string& name,
                  const TensorQuery& query) {
  const Tensor tensor = trial.tensor(name);
  const std::vector<int64_t> steps =
      tensor.Steps(query.mode, /*include_incomplete=*/true);
  TensorInfo info = {.name = name};
  info.steps = static_cast<int64_t>(steps.size());
  info.first_step = steps.front();
  info.last_step = steps.back();
  if (query.step) {
    info.saved = tensor.SavedAt(*query.step, query.mode);
    Inspect(tensor, *query.step, query.mode, info);
    return info;
  }
  for (const int64_t step : steps) {
    AddTo(tensor.SavedAt(step, query.mode), info.saved);
  }
  Inspect(tensor, steps.back(), query.mode, info);
  return info;
}

}  // namespace

std::vector<TensorInfo> ListTensors(Trial& trial, const TensorQuery& query) {
  if (query.collection) RequireCollection(trial, *query.collection);
  std::vector<std::string> names =
      KeepMatching(trial.TensorNames({.step = query.step,
                                      .mode = query.mode,
                                      .collection = query.collection}),
                   query.regexes);
  std::erase_if(names, [&](const std::string& name) {
    return !MatchesPattern(name, query.pattern);
  });
  auto collections = CollectionsByTensor(trial);
  std::vector<TensorInfo> tensors;
  for (const std::string& name : names) {
    tensors.push_back(InfoOf(trial, name, query));
    tensors.back().collections = std::move(collections[name]);
  }
  return tensors;
}

std::string SavedText(const Tensor::Saved& saved) {
  constexpr size_t kMostNamed = 3;
  std::vector<std::string> parts;
  if (saved.value) parts.emplace_back("value");
  if (saved.reductions.size() > kMostNamed) {
    parts.push_back(
        Counted(static_cast<int64_t>(saved.reductions.size()), "reduction"));
  } else {
    for (const Reduction& reduction : saved.reductions) {
      parts.push_back(ReductionName(reduction));
    }
  }
  if (saved.shape) parts.emplace_back("shape");
  return Join(parts);
}

Json ToJson(const TensorInfo& tensor) {
  Json reductions = Json::array();
  for (const Reduction& reduction : tensor.saved.reductions) {
    reductions.push_back(ReductionName(reduction));
  }
  return {{"name", tensor.name},
          {"collections", tensor.collections},
          {"dtype", tensor.dtype ? Json(DTypeName(*tensor.dtype)) : Json()},
          {"shape", tensor.shape ? Json(*tensor.shape) : Json()},
          {"saved",
           {{"value", tensor.saved.value},
            {"reductions", std::move(reductions)},
            {"shape", tensor.saved.shape}}},
          {"steps", tensor.steps},
          {"first_step", tensor.first_step},
          {"last_step", tensor.last_step}};
}

}  // namespace smdebug::query
