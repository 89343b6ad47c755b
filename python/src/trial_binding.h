#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "smdebug/trial.h"

namespace smdebug::python {

// How many forks lie between the start of the program and this process. A
// system call for the process's number would cost more than most queries.
uint64_t ForkCount() noexcept;

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

  bool is_copy() const noexcept { return ForkCount() != opened_in_; }
  Trial* operator->() const noexcept { return trial_.get(); }
  Trial& operator*() const noexcept { return *trial_; }

 private:
  std::unique_ptr<Trial> trial_;
  const uint64_t opened_in_ = ForkCount();
};

}  // namespace smdebug::python
