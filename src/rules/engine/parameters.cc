#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "smdebug/error.h"
#include "smdebug/rule_parameters.h"
#include "src/base/regex.h"
#include "src/base/text.h"
#include "src/config/nearest.h"

namespace smdebug {
namespace {

using Kind = RuleParameter::Kind;

std::optional<double> ParseNumber(std::string_view text) {
  double number = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() ||
      std::isnan(number)) {
    return std::nullopt;
  }
  return number;
}

std::optional<bool> ParseBool(std::string_view text) {
  if (text == "True" || text == "true") return true;
  if (text == "False" || text == "false") return false;
  return std::nullopt;
}

void Check(const RuleParameter& parameter, const std::string& key,
           const std::string& text) {
  switch (parameter.kind) {
    case Kind::kNumber:
    case Kind::kWhole: {
      const auto number = ParseNumber(text);
      const bool inside =
          number &&
          (parameter.open
               ? *number > parameter.least && *number < parameter.most
               : *number >= parameter.least && *number <= parameter.most);
      const bool whole = number && (parameter.kind == Kind::kNumber ||
                                    *number == std::trunc(*number));
      if (!inside || !whole) throw ConfigError(key, text, parameter.Allowed());
      return;
    }
    case Kind::kBool:
      if (!ParseBool(text)) throw ConfigError(key, text, parameter.Allowed());
      return;
    case Kind::kText:
    case Kind::kList:
      if (parameter.name.ends_with("regex")) base::Regex(text, key);
      return;
  }
}

// The items of a list: as they are, or parted at commas.
std::vector<std::string> ItemsOf(const std::vector<std::string>& given,
                                 bool commas_separate) {
  if (!commas_separate) return given;
  std::vector<std::string> items;
  for (const std::string_view text : given) {
    for (std::string_view item : base::SplitAtCommas(text)) {
      item = base::Trim(item);
      if (!item.empty()) items.emplace_back(item);
    }
  }
  return items;
}

}  // namespace

std::string RuleParameter::Allowed() const {
  if (kind == Kind::kBool) return "true or false";
  if (kind == Kind::kText) return "a string";
  if (kind == Kind::kList) return "a list";
  const char* what = kind == Kind::kWhole ? "a whole number" : "a number";
  const bool has_least = std::isfinite(least);
  const bool has_most = std::isfinite(most);
  if (has_least && has_most) {
    return open ? fmt::format("{} between {} and {}", what, least, most)
                : fmt::format("{} from {} to {}", what, least, most);
  }
  if (has_least) {
    return fmt::format("{} {} {}", what, open ? "above" : "of at least", least);
  }
  if (has_most) {
    return fmt::format("{} {} {}", what, open ? "below" : "of at most", most);
  }
  return what;
}

RuleParameters::RuleParameters(const RuleType& type, const RuleSpec& spec)
    : rule_(type.name) {
  for (const auto& [name, value] : spec.parameters) {
    if (std::ranges::find(type.parameters, name, &RuleParameter::name) !=
        type.parameters.end()) {
      continue;
    }
    std::vector<std::string> known;
    for (const auto& parameter : type.parameters) {
      known.push_back(parameter.name);
    }
    // What ToEvaluation() takes out for every rule.
    for (const char* shared : {"start_step", "end_step", "other_trials"}) {
      if (std::ranges::find(known, shared) == known.end()) {
        known.emplace_back(shared);
      }
    }
    throw ConfigError(type.name, name, config::OneOf(name, known));
  }
  for (const RuleParameter& parameter : type.parameters) {
    const auto given = spec.parameters.find(parameter.name);
    const bool is_given = given != spec.parameters.end();
    if (!is_given && !parameter.fallback) continue;
    Entry entry{.parameter = &parameter, .items = {}, .given = is_given};
    if (is_given) {
      entry.items = parameter.kind == Kind::kList
                        ? ItemsOf(given->second, spec.commas_separate)
                        : given->second;
    } else {
      entry.items = {*parameter.fallback};
    }
    const std::string key = type.name + "." + parameter.name;
    if (parameter.kind != Kind::kList && entry.items.size() != 1) {
      throw ConfigError(key, fmt::format("{} values", entry.items.size()),
                        "one value");
    }
    for (const std::string& item : entry.items) Check(parameter, key, item);
    entries_.emplace(parameter.name, std::move(entry));
  }
}

const RuleParameters::Entry& RuleParameters::Get(std::string_view name) const {
  return entries_.find(name)->second;
}

bool RuleParameters::Has(std::string_view name) const {
  return entries_.contains(name);
}

bool RuleParameters::IsGiven(std::string_view name) const {
  const auto it = entries_.find(name);
  return it != entries_.end() && it->second.given;
}

double RuleParameters::Number(std::string_view name) const {
  return *ParseNumber(Get(name).items.front());
}

int64_t RuleParameters::Whole(std::string_view name) const {
  return static_cast<int64_t>(Number(name));
}

bool RuleParameters::Bool(std::string_view name) const {
  return *ParseBool(Get(name).items.front());
}

const std::string& RuleParameters::Text(std::string_view name) const {
  return Get(name).items.front();
}

std::vector<std::string> RuleParameters::List(std::string_view name) const {
  return Has(name) ? Get(name).items : std::vector<std::string>();
}

std::vector<double> RuleParameters::Numbers(std::string_view name) const {
  std::vector<double> numbers;
  for (const std::string& item : List(name)) {
    const auto number = ParseNumber(item);
    if (!number) {
      throw ConfigError(fmt::format("{}.{}", rule_, name), item, "numbers");
    }
    numbers.push_back(*number);
  }
  return numbers;
}

std::optional<double> RuleParameters::MaybeNumber(std::string_view name) const {
  return Has(name) ? std::optional(Number(name)) : std::nullopt;
}

TensorSelection RuleParameters::Selection() const {
  return {.collections = List("collection_names"),
          .regexes = List("tensor_regex")};
}

TensorSelection RuleParameters::RequiredSelection() const {
  TensorSelection selection = Selection();
  if (selection.empty()) {
    RefuseRule(*this, "collection_names or tensor_regex is needed");
  }
  return selection;
}

void RefuseRule(const RuleParameters& parameters, std::string_view message) {
  throw InsufficientInformation(parameters.rule(), message);
}

RuleParameter CollectionNames() {
  return {.name = "collection_names",
          .kind = Kind::kList,
          .meaning = "Collections whose tensors are looked at."};
}

RuleParameter TensorRegex(std::optional<std::string> fallback) {
  return {.name = "tensor_regex",
          .kind = Kind::kList,
          .fallback = std::move(fallback),
          .meaning = "Regexes of names that are looked at, too."};
}

RuleParameter Robust() {
  return {.name = "robust",
          .kind = Kind::kBool,
          .fallback = "false",
          .meaning =
              "Warm-up, smoothing and floors instead of single "
              "comparisons."};
}

}  // namespace smdebug
