#pragma once

#include <cstdint>
#include <string>

namespace smdebug::storage {

// Whether inotify sees every change of a file system of this kind, the f_type
// of statfs(2). Only for those known to be changed by this machine alone; what
// others do to NFS, SMB, FUSE and the like stays unseen. Thread-safe.
bool InotifySeesAll(uint32_t file_system_type) noexcept;

// The same of the file system that holds `path`; true where nothing is.
bool InotifySeesAllOf(const std::string& path) noexcept;

}  // namespace smdebug::storage
