#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace smdebug::storage {

// Which changes a watch is about: files right below the root, and files at any
// depth below some folders. Folders are named as in keys; the root is "".
// Immutable. Thread-safe.
class WatchedFolders {
 public:
  // Throws std::invalid_argument for a folder that is no key.
  explicit WatchedFolders(std::span<const std::string_view> folders);

  // Whether the file `key` counts.
  bool Covers(std::string_view key) const noexcept;

  // Whether the files right in `folder` count.
  bool Holds(std::string_view folder) const noexcept;

  // Whether files that count may lie in `folder` or somewhere below it.
  bool LeadsTo(std::string_view folder) const noexcept;

 private:
  const std::vector<std::string> folders_;
};

}  // namespace smdebug::storage
