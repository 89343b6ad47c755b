#include "src/base/environment.h"

#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

namespace smdebug::base {
namespace {

// The home folder of `user`, or of this process's user if it is empty.
std::optional<std::string> HomeOf(const std::string& user) {
  if (user.empty()) {
    auto home = GetEnv("HOME");
    if (home && !home->empty()) return home;
  }
  constexpr size_t kBufferBytes = size_t{16} << 10;
  std::vector<char> buffer(kBufferBytes);
  passwd entry{};
  passwd* found = nullptr;
  if (user.empty()) {
    getpwuid_r(getuid(), &entry, buffer.data(), buffer.size(), &found);
  } else {
    getpwnam_r(user.c_str(), &entry, buffer.data(), buffer.size(), &found);
  }
  if (found == nullptr) return std::nullopt;
  return found->pw_dir;
}

}  // namespace

std::optional<std::string> GetEnv(const char* name) {
  // Unsafe only beside setenv(), which this library never calls.
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe)
  if (value == nullptr) return std::nullopt;
  return value;
}

std::optional<std::string> GetEnvOf(int64_t pid, std::string_view name) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/environ",
                     std::ios::binary);
  std::string entry;
  while (std::getline(file, entry, '\0')) {
    const std::string_view text = entry;
    if (text.starts_with(name) && text.substr(name.size()).starts_with('=')) {
      return entry.substr(name.size() + 1);
    }
  }
  return std::nullopt;
}

std::string ExpandHome(std::string_view path) {
  if (!path.starts_with('~')) return std::string(path);
  const size_t slash = std::min(path.find('/'), path.size());
  auto home = HomeOf(std::string(path.substr(1, slash - 1)));
  if (!home.has_value()) return std::string(path);
  return *std::move(home) + std::string(path.substr(slash));
}

}  // namespace smdebug::base
