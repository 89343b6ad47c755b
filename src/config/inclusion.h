#pragma once

#include <set>
#include <string>
#include <string_view>

#include "smdebug/config.h"

namespace smdebug::config {

// Which collections a hook saves: the framework's defaults, those in
// include_collections, `all` under save_all and `default` with include_regex.
// With `all` in it, every collection there is.
//
// Const calls are thread-safe.
class Inclusion {
 public:
  explicit Inclusion(const HookConfig& config);

  bool Includes(std::string_view collection) const;

 private:
  std::set<std::string, std::less<>> names_;
  bool all_ = false;
};

}  // namespace smdebug::config
