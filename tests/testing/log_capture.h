#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "smdebug/log.h"
#include "src/base/mutex.h"

namespace smdebug::testing {

// Collects what is logged while it lives.
class LogCapture {
 public:
  LogCapture() {
    SetLogSink([this](LogLevel, std::string_view message) {
      const base::MutexLock lock(mu_);
      lines_.emplace_back(message);
    });
  }
  ~LogCapture() { SetLogSink({}); }

  std::vector<std::string> lines() const {
    const base::MutexLock lock(mu_);
    return lines_;
  }

 private:
  mutable base::Mutex mu_;
  std::vector<std::string> lines_ SMDEBUG_GUARDED_BY(mu_);
};

}  // namespace smdebug::testing
