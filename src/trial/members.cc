#include "src/trial/members.h"

#include <algorithm>

#include "smdebug/error.h"
#include "src/base/log.h"

namespace smdebug::trial {
namespace {

// A program that asks for ever new patterns must not grow without bound.
constexpr size_t kMostPatternLists = 256;

}  // namespace

std::vector<Catalog::TensorId> Members::Of(const Collection& collection,
                                           const Catalog& catalog) {
  const base::MutexLock lock(mu_);
  const auto [it, fresh] = collections_.try_emplace(collection.name);
  Group& group = it->second;
  if (fresh) {
    for (const std::string& pattern : collection.include_regex) {
      try {
        group.patterns.emplace_back(pattern, "include_regex");
      } catch (const ConfigError& error) {
        base::LogWarning("collection {}: {}", collection.name, error.what());
      }
    }
  }
  return Extend(group, collection.tensor_names, catalog);
}

std::vector<Catalog::TensorId> Members::Matching(
    const std::vector<std::string>& patterns, const Catalog& catalog) {
  const base::MutexLock lock(mu_);
  auto it = patterns_.find(patterns);
  if (it == patterns_.end()) {
    Group group;
    for (const std::string& pattern : patterns) {
      group.patterns.emplace_back(pattern, "regex");
    }
    if (patterns_.size() >= kMostPatternLists) patterns_.clear();
    it = patterns_.emplace(patterns, std::move(group)).first;
  }
  return Extend(it->second, {}, catalog);
}

std::vector<Catalog::TensorId> Members::Extend(
    Group& group, const std::set<std::string, std::less<>>& names,
    const Catalog& catalog) {
  for (; group.tried < catalog.tensor_count(); ++group.tried) {
    const auto id = static_cast<Catalog::TensorId>(group.tried);
    const std::string& name = *catalog.tensor(id).name;
    if (names.contains(name) ||
        std::ranges::any_of(group.patterns, [&](const base::Regex& pattern) {
          return pattern.Search(name);
        })) {
      group.members.push_back(id);
    }
  }
  // An older catalog has less than others that were asked about.
  return {group.members.begin(),
          std::ranges::lower_bound(group.members, catalog.tensor_count())};
}

}  // namespace smdebug::trial
