#include "python/src/gil.h"

#include <cxxabi.h>
#include <unistd.h>

namespace smdebug::python {
namespace {

// Whether Python ends in this thread, which alone may have the GIL then.
thread_local bool ends_python = false;

[[noreturn]] void Hold() {
  while (true) pause();
}

// The result of `acquire`, unless Python ends, or has ended, in another thread.
template <typename Acquire>
auto OrHold(Acquire acquire) {
  // Its states of threads may be gone.
  if (Py_IsInitialized() == 0 && !ends_python) Hold();
  try {
    return acquire();
  } catch (abi::__forced_unwind&) {
    Hold();
  }
}

// Lets go of the GIL, which this thread has.
PyThreadState* Release() {
  ends_python = Py_IsInitialized() == 0;
  return PyEval_SaveThread();
}

}  // namespace

GilRelease::GilRelease() : state_(Release()) {}

GilRelease::~GilRelease() {
  OrHold([this] { PyEval_RestoreThread(state_); });
}

GilAcquire::GilAcquire() : state_(OrHold([] { return PyGILState_Ensure(); })) {}

}  // namespace smdebug::python
