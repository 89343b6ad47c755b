#include "src/cli/doctor/variables.h"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "smdebug/error.h"
#include "src/base/text.h"
#include "src/base/variables.h"
#include "src/config/nearest.h"

namespace smdebug::cli {
namespace {

std::string DescribeUnknown(std::string_view name) {
  std::vector<std::string> names;
  for (const base::Variable& variable : base::Variables()) {
    names.emplace_back(variable.name);
  }
  const std::string meant = config::DidYouMean(name, names);
  return fmt::format("{} is not read by smdebug{}{}", name,
                     meant.empty() ? "" : "; ", meant);
}

// Why `value` is refused or ignored; empty if it is neither.
std::string DescribeValue(const base::Variable& variable,
                          std::string_view value) {
  if (variable.check == nullptr) return {};
  const std::string allowed = variable.check(value);
  return allowed.empty() ? ""
                         : ConfigError(variable.name, value, allowed).what();
}

}  // namespace

std::vector<SetVariable> VariablesOf(
    const std::vector<std::string>& environment) {
  std::vector<SetVariable> found;
  for (const std::string& entry : environment) {
    const size_t equals = std::min(entry.find('='), entry.size());
    const std::string name = entry.substr(0, equals);
    const auto known =
        std::ranges::find(base::Variables(), name, &base::Variable::name);
    if (known == base::Variables().end()) {
      if (!name.starts_with("SMDEBUG_")) continue;
      // Nobody knows what its value is for.
      found.push_back({.name = name,
                       .value = {},
                       .is_private = true,
                       .problem = DescribeUnknown(name)});
      continue;
    }
    SetVariable set = {
        .name = name, .value = {}, .is_private = known->is_private};
    if (!set.is_private && equals < entry.size()) {
      set.value = entry.substr(equals + 1);
      set.problem = DescribeValue(*known, base::Trim(set.value));
    }
    found.push_back(std::move(set));
  }
  std::ranges::sort(found, {}, &SetVariable::name);
  return found;
}

}  // namespace smdebug::cli
