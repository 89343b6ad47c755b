#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "smdebug/config.h"
#include "src/base/mutex.h"
#include "src/base/regex.h"
#include "src/trial/catalog.h"

namespace smdebug::trial {

// Which tensors of a catalog a collection, or a list of patterns, takes in.
// Each pattern is compiled once and tried once per tensor.
//
// Thread-safe. Catalogs are those of one run, of any age.
class Members {
 public:
  // The tensors that `collection` names or whose name one of its patterns
  // matches, in the catalog's order. A pattern that does not compile matches
  // nothing, and the log says so.
  std::vector<Catalog::TensorId> Of(const Collection& collection,
                                    const Catalog& catalog);

  // The tensors whose name any of `patterns` matches. Throws ConfigError for a
  // pattern that does not compile.
  std::vector<Catalog::TensorId> Matching(
      const std::vector<std::string>& patterns, const Catalog& catalog);

 private:
  struct Group {
    std::vector<base::Regex> patterns = {};
    size_t tried = 0;  // Tensors looked at so far.
    std::vector<Catalog::TensorId> members = {};
  };

  static std::vector<Catalog::TensorId> Extend(
      Group& group, const std::set<std::string, std::less<>>& names,
      const Catalog& catalog);

  base::Mutex mu_;
  std::map<std::string, Group, std::less<>> collections_
      SMDEBUG_GUARDED_BY(mu_);
  std::map<std::vector<std::string>, Group> patterns_ SMDEBUG_GUARDED_BY(mu_);
};

}  // namespace smdebug::trial
