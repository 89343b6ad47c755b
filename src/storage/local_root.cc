#include "src/storage/local_root.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "smdebug/error.h"
#include "src/storage/beneath.h"
#include "src/storage/key.h"

namespace smdebug::storage {
namespace {

// How often an attempt is repeated when others keep removing the folder that
// was made for it.
constexpr int kMostRounds = 16;

constexpr int kRootFolder = O_PATH | O_DIRECTORY | O_CLOEXEC;

// The folder part of a key, empty for the root, and its last name.
std::pair<std::string_view, std::string_view> SplitKey(std::string_view key) {
  const size_t slash = key.rfind('/');
  if (slash == std::string_view::npos) return {{}, key};
  return {key.substr(0, slash), key.substr(slash + 1)};
}

bool MakeFolders(const std::string& path) {
  constexpr mode_t kMode = 0777;
  if (mkdir(path.c_str(), kMode) == 0 || errno == EEXIST) return true;
  if (errno != ENOENT) return false;
  const std::string parent = ParentOf(path);
  if (parent == path || !MakeFolders(parent)) return false;
  return mkdir(path.c_str(), kMode) == 0 || errno == EEXIST;
}

}  // namespace

std::string LocalRoot::PathOf(std::string_view key) const {
  CheckKey(key);
  return Join(key);
}

std::string LocalRoot::Join(std::string_view below) const {
  std::string path;
  path.reserve(path_.size() + 1 + below.size());
  return path.append(path_).append("/").append(below);
}

bool LocalRoot::Hold() {
  if (held_ != nullptr) return true;
  if (!MakeFolders(path_)) return false;
  base::Fd self = OpenSelf(kRootFolder);
  if (!self.valid()) return false;
  held_ = std::make_shared<const base::Fd>(std::move(self));
  return true;
}

bool LocalRoot::IsGone() const noexcept {
  struct stat status {};
  return held_ != nullptr && fstat(held_->get(), &status) == 0 &&
         status.st_nlink == 0;
}

base::Fd LocalRoot::OpenSelf(int flags) const {
  return base::Fd(held_ == nullptr ? open(path_.c_str(), flags)
                                   : openat(held_->get(), ".", flags));
}

base::Fd LocalRoot::Open(std::string_view below, int flags) const {
  if (held_ != nullptr) return OpenBeneath(held_->get(), below, flags);
  base::Fd direct = OpenLinkless(Join(below), flags);
  if (direct.valid() || errno != ELOOP) return direct;
  // There is a link, above the root or below it.
  base::Fd root = OpenSelf(kRootFolder);
  return root.valid() ? OpenBeneath(root.get(), below, flags) : std::move(root);
}

Place LocalRoot::Find(std::string_view key) const {
  const auto [parent, name] = SplitKey(key);
  Place place;
  place.name = name;
  place.folder =
      parent.empty() ? OpenSelf(kRootFolder) : Open(parent, kRootFolder);
  return place;
}

bool LocalRoot::At(std::string_view key,
                   const std::function<bool(const Place&)>& attempt) const {
  const std::string_view parent = SplitKey(key).first;
  for (int attempts = 1;; ++attempts) {
    Place place = Find(key);
    if (!place.folder.valid() && errno == ENOENT && !parent.empty()) {
      place.folder = OpenSelf(kRootFolder);
      if (place.folder.valid()) {
        place.folder = MakeBeneath(place.folder.get(), parent);
      }
    }
    if (place.folder.valid() && attempt(place)) return true;
    if (errno != ENOENT || attempts == kMostRounds) return false;
    if (held_ == nullptr && !MakeFolders(path_)) return false;
  }
}

int LocalRoot::Sync(std::string_view key) const noexcept {
  const base::Fd root = OpenSelf(O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (!root.valid()) return errno;
  for (auto parent = SplitKey(key).first; !parent.empty();
       parent = SplitKey(parent).first) {
    const base::Fd folder =
        OpenBeneath(root.get(), parent, O_RDONLY | O_DIRECTORY);
    if (!folder.valid() || fsync(folder.get()) != 0) return errno;
  }
  if (fsync(root.get()) != 0) return errno;
  // The folder above the root is not ours and may be closed to us.
  const base::Fd above(
      open(ParentOf(path_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (above.valid()) fsync(above.get());
  return 0;
}

bool IsAbsent(int code) noexcept {
  return code == ENOENT || code == ENOTDIR || code == ELOOP;
}

void ThrowIoError(std::string_view operation, const std::string& path,
                  int code) {
  if (code != ELOOP) throw IoError(operation, path, code);
  throw IoError(operation, path, IoKind::kDenied, std::string(kLinkInTheWay));
}

void ThrowIoError(const LocalRoot& root, std::string_view operation,
                  const std::string& path, int code) {
  if (code != ENOENT || !root.IsGone()) ThrowIoError(operation, path, code);
  throw IoError(operation, path, IoKind::kMissing,
                "the folder was removed while it was in use");
}

}  // namespace smdebug::storage
