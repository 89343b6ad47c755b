#include "src/storage/file_system.h"

#include <sys/vfs.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include <linux/magic.h>

namespace smdebug::storage {
namespace {

// Not in every <linux/magic.h>.
constexpr uint32_t kBcachefsMagic = 0xca451a4e;
constexpr uint32_t kZfsMagic = 0x2fc12fc1;

constexpr std::array<uint32_t, 9> kLocalFileSystems = {
    EXT4_SUPER_MAGIC,  // ext2 and ext3 too.
    XFS_SUPER_MAGIC,  BTRFS_SUPER_MAGIC, TMPFS_MAGIC,    RAMFS_MAGIC,
    F2FS_SUPER_MAGIC, kZfsMagic,         kBcachefsMagic, OVERLAYFS_SUPER_MAGIC,
};

}  // namespace

bool InotifySeesAll(uint32_t file_system_type) noexcept {
  return std::ranges::find(kLocalFileSystems, file_system_type) !=
         kLocalFileSystems.end();
}

bool InotifySeesAllOf(const std::string& path) noexcept {
  struct statfs status {};
  while (statfs(path.c_str(), &status) != 0) {
    if (errno != EINTR) return errno == ENOENT || errno == ENOTDIR;
  }
  return InotifySeesAll(static_cast<uint32_t>(status.f_type));
}

}  // namespace smdebug::storage
