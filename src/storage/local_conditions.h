#pragma once

#include <sys/stat.h>

#include <string>
#include <string_view>

#include "smdebug/storage.h"
#include "src/storage/local_root.h"

namespace smdebug::storage {

// Storage::CreateExclusive() below `root`. Throws IoError, also if something
// that is no file has the name: nobody could read what it holds.
bool CreateLocalExclusive(const LocalRoot& root, std::string_view key,
                          Bytes content);

// Storage::ReplaceIfUnchanged() below `root`. Where a folder cannot be locked,
// as on some network file systems, two may both find the file unchanged.
bool ReplaceLocalIfUnchanged(const LocalRoot& root, std::string_view key,
                             std::string_view version, Bytes content);

// Files are replaced, never written again, so a new version is a new inode,
// and MarkVersion() tells those apart that have had the same number.
std::string VersionOf(const struct stat& status);

}  // namespace smdebug::storage
