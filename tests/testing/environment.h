#pragma once

#include <cstdlib>
#include <optional>
#include <string>
#include <utility>

#include "src/base/environment.h"

namespace smdebug::testing {

// Sets an environment variable, or removes it, while it lives. For tests of
// one thread.
class ScopedEnvironment {
 public:
  ScopedEnvironment(std::string name, const std::optional<std::string>& value)
      : name_(std::move(name)), before_(base::GetEnv(name_.c_str())) {
    Set(value);
  }
  ~ScopedEnvironment() { Set(before_); }

  ScopedEnvironment(const ScopedEnvironment&) = delete;
  ScopedEnvironment& operator=(const ScopedEnvironment&) = delete;

 private:
  void Set(const std::optional<std::string>& value) const {
    // NOLINTBEGIN(concurrency-mt-unsafe): the class comment says so.
    if (value) {
      setenv(name_.c_str(), value->c_str(), 1);
    } else {
      unsetenv(name_.c_str());
    }
    // NOLINTEND(concurrency-mt-unsafe)
  }

  const std::string name_;
  const std::optional<std::string> before_;
};

}  // namespace smdebug::testing
