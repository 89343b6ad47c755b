#pragma once

#include <unistd.h>

#include <memory>
#include <utility>

#include "smdebug/trial.h"

namespace smdebug::python {

// A trial of the process that opened it.
//
// A forked child has a copy, whose locks may be held by threads that the child
// lacks. The copy is not to be used, and is not destroyed.
class OwnTrial {
 public:
  explicit OwnTrial(std::unique_ptr<Trial> trial) : trial_(std::move(trial)) {}
  ~OwnTrial() {
    if (is_copy()) static_cast<void>(trial_.release());
  }
  OwnTrial(const OwnTrial&) = delete;
  OwnTrial& operator=(const OwnTrial&) = delete;

  bool is_copy() const noexcept { return getpid() != owner_; }
  Trial* operator->() const noexcept { return trial_.get(); }
  Trial& operator*() const noexcept { return *trial_; }

 private:
  std::unique_ptr<Trial> trial_;
  pid_t owner_ = getpid();
};

}  // namespace smdebug::python
