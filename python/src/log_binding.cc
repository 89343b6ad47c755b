#include <pthread.h>

#include <atomic>
#include <deque>
#include <mutex>
#include <string>
#include <utility>

#include "python/src/bindings.h"
#include "smdebug/log.h"

namespace nb = nanobind;

namespace smdebug::python {
namespace {

// Messages that Python has not taken yet. Threads of the core must not touch
// Python, so Python comes for them. Thread-safe.
class LogQueue {
 public:
  void Add(LogLevel level, std::string_view message) {
    const std::lock_guard lock(mu_);
    // Nobody may come for a long time; the first messages tell the most.
    constexpr size_t kMostMessages = 1000;
    if (messages_.size() >= kMostMessages) return;
    messages_.emplace_back(level, message);
    waiting_.store(true, std::memory_order_relaxed);
  }

  bool waiting() const noexcept {
    return waiting_.load(std::memory_order_relaxed);
  }

  std::deque<std::pair<LogLevel, std::string>> Take() {
    if (!waiting()) return {};
    const std::lock_guard lock(mu_);
    waiting_.store(false, std::memory_order_relaxed);
    return std::exchange(messages_, {});
  }

 private:
  std::mutex mu_;
  std::atomic<bool> waiting_{false};
  std::deque<std::pair<LogLevel, std::string>> messages_;
};

// Never destroyed: threads may log while the process exits. A forked child gets
// a new one, since a thread that it does not have may hold the lock.
std::atomic<LogQueue*> queue{new LogQueue};

nb::list TakeLog() {
  nb::list taken;
  for (const auto& [level, message] : queue.load()->Take()) {
    taken.append(nb::make_tuple(static_cast<int>(level),
                                nb::str(message.data(), message.size())));
  }
  return taken;
}

}  // namespace

void RelayLog() noexcept {
  if (!queue.load()->waiting()) return;
  try {
    nb::module_::import_("smdebug._internal.native_log").attr("relay")();
  } catch (nb::python_error& error) {
    if (error.matches(PyExc_KeyboardInterrupt)) {
      // Not ours to lose: whoever looks for signals next meets it again.
      PyErr_SetInterrupt();
    } else {
      error.discard_as_unraisable("smdebug's log");
    }
  } catch (const std::exception&) {
    // A message is not worth the call that it was about.
  }
}

void InitLog(nb::module_& m) {
  SetLogSink([](LogLevel level, std::string_view message) {
    queue.load()->Add(level, message);
  });
  pthread_atfork(nullptr, nullptr, [] { queue.store(new LogQueue); });
  m.def("take_log", &TakeLog,
        "Messages since the last call, as (level, text): 0 debug, 1 info, "
        "2 warning, 3 error.");
}

}  // namespace smdebug::python
