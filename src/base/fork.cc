#include "src/base/fork.h"

#include <pthread.h>

#include <atomic>

namespace smdebug::base {
namespace {

std::atomic<uint64_t>& Generation() noexcept {
  static std::atomic<uint64_t> generation{0};
  return generation;
}

[[maybe_unused]] const int kRegistered = pthread_atfork(nullptr, nullptr, [] {
  Generation().fetch_add(1, std::memory_order_relaxed);
});

}  // namespace

uint64_t ForkGeneration() noexcept {
  return Generation().load(std::memory_order_relaxed);
}

}  // namespace smdebug::base
