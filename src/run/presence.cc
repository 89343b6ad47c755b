#include "src/run/presence.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <system_error>

#include <fmt/format.h>

#include "src/base/abstract_address.h"

namespace smdebug::run {
namespace {

uint64_t Fnv1a(std::string_view text, uint64_t hash) {
  for (const char c : text) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 0x100000001b3ULL;
  }
  return hash;
}

// Where the store is, whatever path leads there.
std::string PlaceOf(const Storage& storage) {
  struct stat status {};
  if (stat(storage.root().c_str(), &status) != 0) return storage.root();
  return fmt::format("{}:{}", status.st_dev, status.st_ino);
}

// The inode of the abstract socket `name`; empty if there is none.
std::string InodeOf(const std::string& name) {
  std::ifstream table("/proc/net/unix");
  const std::string end = " @" + name;
  std::string line;
  while (std::getline(table, line)) {
    if (!line.ends_with(end)) continue;
    line.resize(line.size() - end.size());
    return line.substr(line.find_last_of(' ') + 1);
  }
  return {};
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

std::string PresenceName(const Storage& storage, std::string_view run,
                         std::string_view worker) {
  const std::string text =
      fmt::format("{}\n{}\n{}", PlaceOf(storage), run, worker);
  return fmt::format("smdebug-{:016x}{:016x}",
                     Fnv1a(text, 0xcbf29ce484222325ULL),
                     Fnv1a(text, 0x9ae16a3b2f90404fULL));
}

bool IsPresent(int64_t pid, const std::string& name) {
  const std::string inode = InodeOf(name);
  if (inode.empty()) return false;
  const std::string target = fmt::format("socket:[{}]", inode);
  std::error_code error;
  std::filesystem::directory_iterator files(fmt::format("/proc/{}/fd", pid),
                                            error);
  for (; !error && files != std::filesystem::directory_iterator();
       files.increment(error)) {
    std::error_code gone;
    if (std::filesystem::read_symlink(*files, gone) == target) return true;
  }
  return false;
}

}  // namespace smdebug::run
