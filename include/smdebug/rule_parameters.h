#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "smdebug/rule.h"

namespace smdebug {

// The parameters of one rule, checked against its type: given ones, else their
// defaults. Asking for a name that the type does not declare is a mistake in
// the rule. Const calls are thread-safe.
class RuleParameters {
 public:
  // Throws ConfigError for a name that `type` does not have, and for a value
  // that is not of its kind or outside its range.
  RuleParameters(const RuleType& type, const RuleSpec& spec);

  const std::string& rule() const noexcept { return rule_; }

  // Whether it was given, or has a default.
  bool Has(std::string_view name) const;
  // Whether it was given.
  bool IsGiven(std::string_view name) const;

  // Of a parameter that Has().
  double Number(std::string_view name) const;
  int64_t Whole(std::string_view name) const;
  bool Bool(std::string_view name) const;
  const std::string& Text(std::string_view name) const;
  // Empty if it is not there.
  std::vector<std::string> List(std::string_view name) const;
  std::vector<double> Numbers(std::string_view name) const;

  std::optional<double> MaybeNumber(std::string_view name) const;

  // collection_names and tensor_regex.
  TensorSelection Selection() const;
  // The same where one of them must be given. Throws InsufficientInformation.
  TensorSelection RequiredSelection() const;

 private:
  struct Entry {
    const RuleParameter* parameter;
    std::vector<std::string> items;
    bool given;
  };
  const Entry& Get(std::string_view name) const;

  std::string rule_;
  std::map<std::string, Entry, std::less<>> entries_;
};

// Throws InsufficientInformation of the rule.
[[noreturn]] void RefuseRule(const RuleParameters& parameters,
                             std::string_view message);

// The two that many rules have.
RuleParameter CollectionNames();
RuleParameter TensorRegex(std::optional<std::string> fallback = {});
// The one that every rule has.
RuleParameter Robust();

}  // namespace smdebug
