#pragma once

#include <memory>
#include <string_view>

#include "smdebug/storage.h"
#include "src/storage/local_root.h"

namespace smdebug::storage {

// Starts the file `key` below `root`. Throws IoError.
//
// Under kOnPublish the bytes go to `<key>.tmp` and Publish() renames it. Every
// pending file has an inode of its own: of two pending files of one key, in
// one process or in two, the later Create() takes the name and the earlier
// file's Publish() throws, so that their bytes never mix.
//
// Under kWhileWriting the bytes go to `key` itself.
//
// A symbolic link that has the name is replaced, never written through.
//
// Under kPowerLoss, Publish() syncs the file before the rename and its folders
// after it. Only if that last sync fails does it throw with the new file
// already in place.
std::unique_ptr<PendingFile> CreateLocalFile(const LocalRoot& root,
                                             std::string_view key,
                                             CreateOptions options);

}  // namespace smdebug::storage
