#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "smdebug/storage.h"

namespace smdebug::storage {

// Storage::Watch() over the folder `root`, an absolute path without a '/' at
// the end. nullptr if SMDEBUG_WATCH is "poll", or where inotify is absent, at
// one of its limits, or blind to what others do on the file system.
//
// After fork() the child shares the queue of events with its parent. So as not
// to take the parent's events, the child's copy of a watch only tells, always,
// that there may be a change. The descriptors do not survive exec().
std::unique_ptr<ChangeWatch> WatchLocalFiles(
    const std::string& root, std::span<const std::string_view> folders);

}  // namespace smdebug::storage
