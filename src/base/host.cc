#include "src/base/host.h"

#include <unistd.h>

#include <array>
#include <fstream>
#include <iterator>
#include <sstream>

#include <fmt/format.h>

namespace smdebug::base {

std::string HostName() {
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) != 0 || name[0] == '\0') {
    return "localhost";
  }
  return name.data();
}

uint64_t ProcessStart(int64_t pid) {
  std::ifstream file(fmt::format("/proc/{}/stat", pid));
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  // The second field is the command in parentheses and may hold anything;
  // the start is the 22nd, so the 20th after it.
  const size_t command_end = text.rfind(')');
  if (command_end == std::string::npos) return 0;
  std::istringstream fields(text.substr(command_end + 1));
  std::string skipped;
  for (int i = 0; i < 19; ++i) fields >> skipped;
  uint64_t start = 0;
  fields >> start;
  return start;
}

}  // namespace smdebug::base
