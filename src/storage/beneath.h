#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

#include "src/storage/posix_file.h"

// Paths below a folder that may have been made by anybody: no symbolic link in
// them is followed, not even one that someone puts there meanwhile. errno is
// the error channel, and ELOOP says that a link is in the way. `path` is of the
// form of keys.
namespace smdebug::storage {

// What is wrong with a symbolic link below a root. Readers take what lies
// behind one for absent.
inline constexpr std::string_view kLinkInTheWay =
    "a symbolic link is in the way, and below the folder of a run none is "
    "followed";

// open(2) of an absolute path, with O_CLOEXEC, if no name in it is a link. One
// call of the kernel where OpenBeneath() is the last of three. ELOOP also where
// the kernel cannot tell.
base::Fd OpenLinkless(const std::string& path, int flags);

// open(2) of `path` below `folder`, with O_CLOEXEC. `flags` make no file.
base::Fd OpenBeneath(int folder, std::string_view path, int flags);

// The same where the kernel has no openat2(2), name by name.
base::Fd WalkBeneath(int folder, std::string_view path, int flags);

// Opens the folder `path` below `folder` and makes it, and those on the way to
// it, if they are missing.
base::Fd MakeBeneath(int folder, std::string_view path);

}  // namespace smdebug::storage
