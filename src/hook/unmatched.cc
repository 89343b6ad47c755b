#include "src/hook/unmatched.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "src/config/framework.h"
#include "src/config/nearest.h"

namespace smdebug::hook {
namespace {

constexpr size_t kMostExamples = 3;

// "; did you mean 'a' or 'b'?", or nothing.
std::string Meant(const std::vector<std::string>& unmatched,
                  std::span<const std::string_view> seen,
                  std::span<const std::string> others,
                  std::span<const std::string> hints) {
  std::vector<std::string> names(seen.begin(), seen.end());
  names.insert(names.end(), others.begin(), others.end());
  const std::string meant = config::DidPatternsMean(unmatched, names, hints);
  return meant.empty() ? meant : "; " + meant;
}

std::string Examples(std::span<const std::string_view> seen,
                     std::span<const std::string> others) {
  std::vector<std::string_view> names(seen.begin(), seen.end());
  names.insert(names.end(), others.begin(), others.end());
  if (names.empty()) return "; the hook was given no tensor";
  std::ranges::sort(names);
  const size_t shown = std::min(names.size(), kMostExamples);
  return fmt::format(
      "; there is '{}'{}",
      fmt::join(names.begin(), names.begin() + static_cast<ptrdiff_t>(shown),
                "', '"),
      names.size() > shown ? ", ..." : "");
}

bool AnyMatches(const base::Regex& regex,
                std::span<const std::string_view> seen) {
  return std::ranges::any_of(
      seen, [&](std::string_view name) { return regex.Search(name); });
}

}  // namespace

Unmatched::Unmatched(const HookConfig& config, const config::Plan& plan) {
  const auto defaults = config::DefaultIncluded(config.framework);
  const auto built_ins = BuiltInCollections(config.framework);
  const auto is_default = [&](std::string_view name) {
    return std::ranges::find(defaults, name) != defaults.end();
  };
  std::vector<Asked> of_defaults;
  for (const auto& [name, planned] : plan) {
    if (!planned.saved) continue;
    const auto built_in = built_ins.find(name);
    Asked asked =
        Ask(config.framework, planned,
            built_in == built_ins.end() ? nullptr : &built_in->second);
    const bool is_listed =
        std::ranges::find(config.include_collections, name) !=
        config.include_collections.end();
    const bool has_own = !asked.regexes.empty() || !asked.names.empty();
    if (has_own || (is_listed && !is_default(name))) {
      asked_.push_back(std::move(asked));
    } else if (is_default(name)) {
      of_defaults.push_back(std::move(asked));
    }
  }
  if (asked_.empty()) asked_ = std::move(of_defaults);
}

Unmatched::Asked Unmatched::Ask(Framework framework,
                                const config::PlannedCollection& planned,
                                const Collection* built_in) {
  const Collection& collection = planned.collection;
  Asked asked;
  asked.planned = &planned;
  for (const base::Regex& regex : planned.regexes) {
    const bool is_frameworks =
        built_in != nullptr &&
        std::ranges::find(built_in->include_regex, regex.pattern()) !=
            built_in->include_regex.end();
    if (!is_frameworks) asked.regexes.push_back(&regex);
  }
  asked.names.assign(collection.tensor_names.begin(),
                     collection.tensor_names.end());
  if (asked.regexes.empty() && asked.names.empty()) {
    asked.foreign = config::OtherFrameworks(framework, collection.name);
  }
  return asked;
}

void Unmatched::AddHints(std::span<const std::string> hints) {
  hints_.insert(hints_.end(), hints.begin(), hints.end());
}

bool Unmatched::HasWork(const IsDue& is_due) const {
  return std::ranges::any_of(
      asked_, [&](const Asked& asked) { return asked.IsReady(is_due); });
}

std::vector<std::string> Unmatched::Settle(
    const IsDue& is_due, std::span<const std::string_view> seen,
    std::span<const std::string> others) {
  std::vector<Asked> due;
  std::erase_if(asked_, [&](const Asked& asked) {
    if (!asked.IsReady(is_due)) return false;
    due.push_back(asked);
    return true;
  });
  std::vector<std::string> messages;
  for (const Asked& asked : due) {
    std::string message = Tell(asked, seen, others);
    if (!message.empty()) messages.push_back(std::move(message));
  }
  return messages;
}

std::string Unmatched::Tell(const Asked& asked,
                            std::span<const std::string_view> seen,
                            std::span<const std::string> others) const {
  const Collection& collection = asked.planned->collection;
  if (!asked.foreign.empty()) {
    if (!collection.tensor_names.empty()) return {};  // By SaveTensor().
    return fmt::format(
        "Collection {} takes nothing here: only the hooks of {} fill it",
        collection.name, asked.foreign);
  }
  std::vector<std::string> unmatched;
  for (const base::Regex* regex : asked.regexes) {
    if (!AnyMatches(*regex, seen)) unmatched.push_back(regex->pattern());
  }
  for (const std::string& name : asked.names) {
    if (std::ranges::find(seen, name) == seen.end()) unmatched.push_back(name);
  }
  if (!unmatched.empty()) {
    const std::string meant = Meant(unmatched, seen, others, hints_);
    return fmt::format("Collection {}: no tensor so far matches '{}'{}",
                       collection.name, fmt::join(unmatched, "' or '"),
                       meant.empty() ? Examples(seen, others) : meant);
  }
  const bool takes_any =
      !asked.regexes.empty() || !asked.names.empty() ||
      !collection.tensor_names.empty() ||
      std::ranges::any_of(asked.planned->regexes, [&](const auto& regex) {
        return AnyMatches(regex, seen);
      });
  if (takes_any) return {};
  return fmt::format("Collection {}: there is no tensor for it so far{}",
                     collection.name, Examples(seen, others));
}

}  // namespace smdebug::hook
