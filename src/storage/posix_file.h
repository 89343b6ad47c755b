#pragma once

#include <sys/stat.h>

#include <span>
#include <string>
#include <string_view>

#include "smdebug/storage.h"
#include "src/base/fd.h"

// Small pieces of POSIX that the local driver is made of. errno is the error
// channel where a comment says so.
namespace smdebug::storage {

// Writes the parts in order, whole, through partial writes and signals.
// Returns 0 or an errno value; then some of the bytes may be written.
int WriteAll(int fd, std::span<const Bytes> parts) noexcept;

// Opens a new, empty file for writing, in place of any file or link `name` of
// the open folder. The old file keeps its bytes for those who hold it open. Not
// valid, and errno set, if it cannot.
base::Fd OpenFresh(int folder, const std::string& name);

// Gives a file of this status, when it is written whole, a time of its own.
// Kernels tell times by ticks of milliseconds and use the numbers of removed
// inodes again at once, so two versions of a file may differ in nothing else.
// Does nothing where times cannot be set.
void MarkVersion(int fd, const struct stat& status) noexcept;

// When the content of the file was last written, in seconds since the epoch.
double ModifiedSeconds(const struct stat& status) noexcept;

// The folder part of `path`: "/a" for "/a/b", "/" for "/a", "." for "a".
std::string ParentOf(std::string_view path);

}  // namespace smdebug::storage
