#pragma once

#include <condition_variable>
#include <mutex>

// Annotations that let clang's -Wthread-safety check who holds what.
#if defined(__clang__)
#define SMDEBUG_THREAD_ANNOTATION(x) __attribute__((x))
#else
#define SMDEBUG_THREAD_ANNOTATION(x)
#endif
#define SMDEBUG_CAPABILITY(x) SMDEBUG_THREAD_ANNOTATION(capability(x))
#define SMDEBUG_SCOPED_CAPABILITY SMDEBUG_THREAD_ANNOTATION(scoped_lockable)
#define SMDEBUG_GUARDED_BY(x) SMDEBUG_THREAD_ANNOTATION(guarded_by(x))
#define SMDEBUG_REQUIRES(...) \
  SMDEBUG_THREAD_ANNOTATION(requires_capability(__VA_ARGS__))
#define SMDEBUG_EXCLUDES(...) \
  SMDEBUG_THREAD_ANNOTATION(locks_excluded(__VA_ARGS__))
#define SMDEBUG_ACQUIRE(...) \
  SMDEBUG_THREAD_ANNOTATION(acquire_capability(__VA_ARGS__))
#define SMDEBUG_RELEASE(...) \
  SMDEBUG_THREAD_ANNOTATION(release_capability(__VA_ARGS__))
#define SMDEBUG_ASSERT_CAPABILITY(x) \
  SMDEBUG_THREAD_ANNOTATION(assert_capability(x))
#define SMDEBUG_NO_THREAD_SAFETY_ANALYSIS \
  SMDEBUG_THREAD_ANNOTATION(no_thread_safety_analysis)

namespace smdebug::base {

// std::mutex with the annotations. Thread-safe.
class SMDEBUG_CAPABILITY("mutex") Mutex {
 public:
  void lock() SMDEBUG_ACQUIRE() { mu_.lock(); }
  void unlock() SMDEBUG_RELEASE() { mu_.unlock(); }

  // Tells the analysis that the caller holds it, inside a wait's predicate.
  void AssertHeld() const SMDEBUG_ASSERT_CAPABILITY(this) {}

 private:
  std::mutex mu_;
};

// Holds a Mutex for a scope. One thread at a time.
class SMDEBUG_SCOPED_CAPABILITY MutexLock {
 public:
  explicit MutexLock(Mutex& mu) SMDEBUG_ACQUIRE(mu) : mu_(mu) { mu_.lock(); }
  ~MutexLock() SMDEBUG_RELEASE() { mu_.unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex& mu_;
};

// A condition variable for Mutex; wait with the mutex held.
using CondVar = std::condition_variable_any;

}  // namespace smdebug::base
