#include "src/base/kill_point.h"

#if defined(SMDEBUG_KILL_POINTS)
#include <csignal>
#include <map>
#include <string>
#include <string_view>

#include "src/base/environment.h"
#include "src/base/mutex.h"
#include "src/base/text.h"

namespace smdebug::base {

void ReachKillPoint(const char* name) noexcept {
  static Mutex mu;
  static std::map<std::string, int64_t> reached;
  const std::string wanted = GetEnv("SMDEBUG_KILL_AT").value_or("");
  const std::string_view text = wanted;
  const size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || text.substr(0, colon) != name) return;
  const MutexLock lock(mu);
  if (++reached[name] == ParseInt(text.substr(colon + 1))) {
    std::raise(SIGKILL);
  }
}

}  // namespace smdebug::base
#endif
