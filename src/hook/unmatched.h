#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "smdebug/config.h"
#include "src/config/plan.h"

namespace smdebug::hook {

// What was asked for and takes nothing: collections, and single regexes and
// names of them, that match no tensor once a step of theirs is over. Each
// collection is told of once; one that is saved by default only where nothing
// else is asked for.
//
// One thread at a time.
class Unmatched {
 public:
  using IsDue = std::function<bool(std::string_view collection)>;

  // Borrows `plan`, which outlives it and gets no shorter.
  Unmatched(const HookConfig& config, const config::Plan& plan);

  // Whether Settle() has anything to do.
  bool HasWork(const IsDue& is_due) const;

  // More that a message may point to: names that stand for tensors.
  void AddHints(std::span<const std::string> hints);

  // Settles the collections that `is_due`, and other frameworks': takes the
  // tensors seen so far, and other names that users may have meant, and gives
  // what is to be logged.
  std::vector<std::string> Settle(const IsDue& is_due,
                                  std::span<const std::string_view> seen,
                                  std::span<const std::string> others);

 private:
  // What users ask of one collection.
  struct Asked {
    const config::PlannedCollection* planned = nullptr;
    std::vector<const base::Regex*> regexes;
    std::vector<std::string> names;
    std::string foreign;  // Which other frameworks fill it; empty: this does.

    // Another framework's need not be due to be told of.
    bool IsReady(const IsDue& is_due) const {
      return !foreign.empty() || is_due(planned->collection.name);
    }
  };

  // `built_in` is the framework's collection of that name, or null.
  static Asked Ask(Framework framework,
                   const config::PlannedCollection& planned,
                   const Collection* built_in);
  // What is to be logged; empty if it takes something.
  std::string Tell(const Asked& asked, std::span<const std::string_view> seen,
                   std::span<const std::string> others) const;

  std::vector<Asked> asked_;
  std::vector<std::string> hints_;
};

}  // namespace smdebug::hook
