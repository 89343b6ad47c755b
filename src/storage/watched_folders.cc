#include "src/storage/watched_folders.h"

#include <algorithm>

#include "src/storage/key.h"

namespace smdebug::storage {
namespace {

// Whether `path` is `folder` or lies below it.
bool IsWithin(std::string_view path, std::string_view folder) noexcept {
  return path.starts_with(folder) &&
         (path.size() == folder.size() || path[folder.size()] == '/');
}

std::vector<std::string> Checked(std::span<const std::string_view> folders) {
  for (const std::string_view folder : folders) CheckKey(folder);
  return {folders.begin(), folders.end()};
}

}  // namespace

WatchedFolders::WatchedFolders(std::span<const std::string_view> folders)
    : folders_(Checked(folders)) {}

bool WatchedFolders::Covers(std::string_view key) const noexcept {
  const size_t slash = key.rfind('/');
  return slash == std::string_view::npos || Holds(key.substr(0, slash));
}

bool WatchedFolders::Holds(std::string_view folder) const noexcept {
  return folder.empty() ||
         std::ranges::any_of(folders_, [&](const std::string& watched) {
           return IsWithin(folder, watched);
         });
}

bool WatchedFolders::LeadsTo(std::string_view folder) const noexcept {
  return Holds(folder) ||
         std::ranges::any_of(folders_, [&](const std::string& watched) {
           return IsWithin(watched, folder);
         });
}

}  // namespace smdebug::storage
