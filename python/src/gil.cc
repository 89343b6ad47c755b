#include "python/src/gil.h"

#include <cxxabi.h>
#include <unistd.h>

namespace smdebug::python {
namespace {

// The result of `acquire`, unless Python ends this thread in it.
template <typename Acquire>
auto OrHold(Acquire acquire) {
  try {
    return acquire();
  } catch (abi::__forced_unwind&) {
    while (true) pause();
  }
}

}  // namespace

GilRelease::~GilRelease() {
  OrHold([this] { PyEval_RestoreThread(state_); });
}

GilAcquire::GilAcquire() : state_(OrHold([] { return PyGILState_Ensure(); })) {}

}  // namespace smdebug::python
