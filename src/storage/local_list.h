#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "smdebug/storage.h"
#include "src/storage/local_root.h"

namespace smdebug::storage {

// Storage::List() over the folder `root`. Regular files only: symbolic links
// below the root are neither listed nor followed. Files that come or go during
// the walk may be missed. Folders behind the last file of `limit` are not read.
// Throws IoError.
std::vector<FileInfo> ListLocalFiles(const LocalRoot& root,
                                     std::string_view prefix,
                                     std::string_view start_after,
                                     size_t limit);

}  // namespace smdebug::storage
