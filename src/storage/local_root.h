#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "src/storage/posix_file.h"

namespace smdebug::storage {

// The folder that holds a key, and the name of the key in it. What is done by
// name in an open folder cannot be led elsewhere.
struct Place {
  base::Fd folder;
  std::string name;
};

// The root of a local storage. It may be a symbolic link, and it may be removed
// and made again, so it is opened anew each time unless it is held. Below it no
// link is followed; see beneath.h for how that is told. Thread-safe.
class LocalRoot {
 public:
  // `path` is absolute, so that a later chdir() does not move the run, and has
  // no '/' at its end.
  explicit LocalRoot(std::string path) : path_(std::move(path)) {}

  const std::string& path() const noexcept { return path_; }

  // Makes the folder if it is missing and keeps to it from now on, also in
  // copies made later. False, and errno set, if that cannot be.
  bool Hold();

  // Whether the folder that is held was removed.
  bool IsGone() const noexcept;

  // The root itself. Not valid, and errno set, if it cannot be opened.
  base::Fd OpenSelf(int flags) const;

  // For messages. Throws std::invalid_argument for what is no key.
  std::string PathOf(std::string_view key) const;

  // Opens what is at `below`, a key or a folder of keys. Not valid, and errno
  // set, if it cannot.
  base::Fd Open(std::string_view below, int flags) const;

  // Where `key` is. The folder is not valid, and errno set, if there is none.
  Place Find(std::string_view key) const;

  // Runs `attempt`, which returns whether it succeeded and else sets errno, at
  // the place of `key`. Missing folders are made, and made again if someone
  // removes them meanwhile. Returns its last answer, errno included.
  bool At(std::string_view key,
          const std::function<bool(const Place&)>& attempt) const;

  // fsync of every folder from the one that holds `key` up to the one that
  // holds the root, since any of them may have been made for this file. Returns
  // 0 or an errno value.
  int Sync(std::string_view key) const noexcept;

 private:
  std::string Join(std::string_view below) const;

  const std::string path_;
  std::shared_ptr<const base::Fd> held_;  // Null if it is not held.
};

// Whether an errno value says that there is no file: a name is missing, a file
// is in the way of a folder, or a link, which is as good as nothing.
bool IsAbsent(int code) noexcept;

// Throws the IoError for an errno value, in clear words where a link is in the
// way.
[[noreturn]] void ThrowIoError(std::string_view operation,
                               const std::string& path, int code);
// Likewise, or where the folder of `root` is gone.
[[noreturn]] void ThrowIoError(const LocalRoot& root,
                               std::string_view operation,
                               const std::string& path, int code);

}  // namespace smdebug::storage
