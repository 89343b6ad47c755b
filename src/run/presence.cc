#include "src/run/presence.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <system_error>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "src/base/abstract_address.h"
#include "src/base/fnv1a.h"
#include "src/base/host.h"

namespace smdebug::run {
namespace {

// Where the store is, whatever path leads there.
std::string PlaceOf(const Storage& storage) {
  struct stat status {};
  if (stat(storage.root().c_str(), &status) != 0) return storage.root();
  return fmt::format("{}:{}", status.st_dev, status.st_ino);
}

constexpr std::string_view kNamePrefix = "smdebug-";

// The names of this kind by "socket:[<inode>]", as descriptors have it. One
// name has several sockets while somebody is connected to it.
std::map<std::string, std::string> NamesByTarget() {
  std::map<std::string, std::string> names;
  std::ifstream table("/proc/net/unix");
  std::string line;
  while (std::getline(table, line)) {
    const size_t end = line.rfind(fmt::format(" @{}", kNamePrefix));
    if (end == std::string::npos) continue;
    const size_t inode = line.find_last_of(' ', end - 1) + 1;
    names.emplace(fmt::format("socket:[{}]", line.substr(inode, end - inode)),
                  line.substr(end + 2));
  }
  return names;
}

// Calls `visit` with what each descriptor of a process leads to, until it says
// false. Returns whether nothing kept it from seeing them.
template <typename Visit>
bool VisitOpenFiles(int64_t pid, const Visit& visit) {
  std::error_code error;
  std::filesystem::directory_iterator files(fmt::format("/proc/{}/fd", pid),
                                            error);
  for (; !error && files != std::filesystem::directory_iterator();
       files.increment(error)) {
    std::error_code gone;  // Since it was listed.
    if (!visit(std::filesystem::read_symlink(*files, gone).string())) break;
  }
  return !error;
}

}  // namespace

Presence::Presence(const std::string& name)
    : socket_(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  if (!socket_.valid()) return;
  const base::AbstractAddress address(name);
  if (bind(socket_.get(), address.get(), address.length()) != 0) {
    socket_.Close();
  }
}

base::Fd Presence::Share() const {
  if (!socket_.valid()) return {};
  return base::Fd(fcntl(socket_.get(), F_DUPFD_CLOEXEC, 0));
}

std::optional<Line> Connect(const std::string& name) {
  Line line = {.fd = base::Fd(socket(
                   AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0))};
  const base::AbstractAddress address(name);
  ucred owner{};
  socklen_t size = sizeof(owner);
  if (!line.fd.valid() ||
      connect(line.fd.get(), address.get(), address.length()) != 0 ||
      getsockopt(line.fd.get(), SOL_SOCKET, SO_PEERCRED, &owner, &size) != 0) {
    return std::nullopt;
  }
  // A process that it has forked may hold its socket when it is gone.
  const auto status = base::FindProcessStatus(owner.pid);
  if (!status || status->HasEnded()) return std::nullopt;
  line.pid = owner.pid;
  return line;
}

std::string PresenceName(const Storage& storage, std::string_view run,
                         std::string_view worker) {
  return NameFor({PlaceOf(storage), run, worker});
}

std::string NameFor(std::initializer_list<std::string_view> words) {
  const std::string text = fmt::format("{}", fmt::join(words, "\n"));
  return fmt::format("{}{:016x}{:016x}", kNamePrefix, base::Fnv1a(text),
                     base::Fnv1a(text, 0x9ae16a3b2f90404fULL));
}

bool IsPresent(int64_t pid, const std::string& name) {
  const auto names = NamesByTarget();
  bool is_present = false;
  VisitOpenFiles(pid, [&](const std::string& target) {
    const auto found = names.find(target);
    is_present = found != names.end() && found->second == name;
    return !is_present;
  });
  return is_present;
}

bool IsPresentElsewhere(int64_t pid, const std::string& name) {
  const auto names = NamesByTarget();
  bool is_here = false;
  bool is_elsewhere = false;
  const bool saw_all = VisitOpenFiles(pid, [&](const std::string& target) {
    const auto found = names.find(target);
    if (found == names.end()) return true;
    is_here = found->second == name;
    is_elsewhere = true;
    return !is_here;
  });
  return is_elsewhere && !is_here && saw_all;
}

}  // namespace smdebug::run
