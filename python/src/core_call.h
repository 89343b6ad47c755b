#pragma once

#include <optional>

#include "python/src/bindings.h"
#include "python/src/gil.h"

namespace smdebug::python {

// A call into the core: lets go of the GIL for its lifetime, and passes on what
// the core has logged meanwhile.
class CoreCall {
 public:
  CoreCall() : released_(std::in_place) {}
  ~CoreCall() {
    released_.reset();
    RelayLog();
  }
  CoreCall(const CoreCall&) = delete;
  CoreCall& operator=(const CoreCall&) = delete;

 private:
  std::optional<GilRelease> released_;
};

// The result of `call`, made as a CoreCall.
template <typename Call>
auto CallCore(Call call) {
  const CoreCall in_core;
  return call();
}

}  // namespace smdebug::python
