#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <utility>

#include "smdebug/storage.h"

namespace smdebug::testing {

// A watch, and who remembers what it has told already. Thread-safe.
class Onlooker {
 public:
  explicit Onlooker(std::unique_ptr<ChangeWatch> watch)
      : watch_(std::move(watch)) {}

  // nullptr for nullptr.
  static std::unique_ptr<Onlooker> Of(std::unique_ptr<ChangeWatch> watch) {
    if (watch == nullptr) return nullptr;
    return std::make_unique<Onlooker>(std::move(watch));
  }

  // Whether there was a change since the last call.
  bool Changed() {
    const uint64_t changes = watch_->Changes();
    return known_.exchange(changes) != changes;
  }

  bool Wait(std::chrono::milliseconds timeout) {
    return watch_->Wait(known_, timeout);
  }

 private:
  const std::unique_ptr<ChangeWatch> watch_;
  std::atomic<uint64_t> known_ = 0;
};

}  // namespace smdebug::testing
