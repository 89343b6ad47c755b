#include "src/base/host.h"

#include <unistd.h>

#include <array>
#include <fstream>
#include <sstream>
#include <string_view>

#include <fmt/format.h>

#include "src/base/text.h"

namespace smdebug::base {

std::string HostName() {
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) != 0 || name[0] == '\0') {
    return "localhost";
  }
  return name.data();
}

std::string MachineId() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string boot;
  std::array<char, 64> processes{};
  if (!(file >> boot) || readlink("/proc/self/ns/pid", processes.data(),
                                  processes.size() - 1) < 0) {
    return {};
  }
  return fmt::format("{} {}", boot, processes.data());
}

double BootSeconds() {
  std::ifstream file("/proc/stat");
  std::string line;
  while (std::getline(file, line)) {
    constexpr std::string_view kKey = "btime ";
    if (!line.starts_with(kKey)) continue;
    return static_cast<double>(
        ParseInt(std::string_view(line).substr(kKey.size())).value_or(0));
  }
  return 0;
}

std::optional<ProcessStatus> FindProcessStatus(int64_t pid) {
  std::ifstream file(fmt::format("/proc/{}/stat", pid), std::ios::binary);
  // Not by iterators, which throw for a process that ends between open and
  // read.
  std::array<char, 4096> buffer{};
  file.read(buffer.data(), buffer.size());
  const std::string_view text(buffer.data(),
                              static_cast<size_t>(file.gcount()));
  // The second field is the command in parentheses and may hold anything.
  const size_t command_end = text.rfind(')');
  if (command_end == std::string_view::npos) return std::nullopt;
  std::istringstream fields(std::string(text.substr(command_end + 1)));
  ProcessStatus status;
  std::string skipped;
  // The third to fifth.
  fields >> status.state >> status.parent >> status.group;
  constexpr int kStartField = 22;
  for (int field = 6; field < kStartField; ++field) fields >> skipped;
  fields >> status.start;
  if (!fields) return std::nullopt;
  return status;
}

uint64_t ProcessStart(int64_t pid) {
  const auto status = FindProcessStatus(pid);
  return status ? status->start : 0;
}

}  // namespace smdebug::base
