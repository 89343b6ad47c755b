#pragma once

#include <memory>
#include <string>

#include "smdebug/storage.h"

namespace smdebug::storage {

// Starts the file at `path`, which lies below `root`. Throws IoError.
//
// Under kOnPublish the bytes go to `<path>.tmp` and Publish() renames it. Every
// pending file has an inode of its own: of two pending files of one path, in
// one process or in two, the later Create() takes the name and the earlier
// file's Publish() throws, so that their bytes never mix.
//
// Under kWhileWriting the bytes go to `path` itself.
//
// Under kPowerLoss, Publish() syncs the file before the rename and its folders
// after it. Only if that last sync fails does it throw with the new file
// already in place.
std::unique_ptr<PendingFile> CreateLocalFile(const std::string& path,
                                             const std::string& root,
                                             CreateOptions options);

}  // namespace smdebug::storage
