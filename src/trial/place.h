#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "smdebug/storage.h"

// Where a run is looked for.
namespace smdebug::trial {

// The store at `path`, there or not. Throws Error if it can never be a folder.
std::shared_ptr<Storage> OpenPlace(std::string_view path);

// That a run is awaited at `root` where there is no folder yet, for people,
// with near names beside it, or that not even its parent is there. Empty if
// there is a folder, or for a store that is not local.
std::string WhichFolderIsAwaited(const std::string& root);

}  // namespace smdebug::trial
