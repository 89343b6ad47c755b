#include "src/query/links.h"

#include <filesystem>
#include <system_error>

namespace smdebug::query {

std::string FindLink(const Storage& storage, std::string_view key) {
  if (storage.root().find("://") != std::string::npos) return {};
  const std::filesystem::path root = storage.root();
  for (size_t end = 0; end != std::string_view::npos;) {
    end = key.find('/', end + 1);
    const std::string_view part = key.substr(0, end);
    std::error_code absent;
    if (std::filesystem::is_symlink(root / part, absent)) {
      return std::string(part);
    }
  }
  return {};
}

}  // namespace smdebug::query
