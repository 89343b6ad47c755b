#pragma once

#include <Python.h>

namespace smdebug::python {

// Lets go of the GIL for its lifetime.
//
// Python ends a daemon thread that wants the GIL back while the interpreter
// exits by unwinding its stack, which no C++ code survives. Such a thread is
// held here instead, until the process is gone; Python 3.14 does the same.
class GilRelease {
 public:
  GilRelease();
  ~GilRelease();
  GilRelease(const GilRelease&) = delete;
  GilRelease& operator=(const GilRelease&) = delete;

 private:
  PyThreadState* const state_;
};

// Holds the GIL for its lifetime, in any thread; see GilRelease.
class GilAcquire {
 public:
  GilAcquire();
  ~GilAcquire() { PyGILState_Release(state_); }
  GilAcquire(const GilAcquire&) = delete;
  GilAcquire& operator=(const GilAcquire&) = delete;

 private:
  PyGILState_STATE state_;
};

}  // namespace smdebug::python
