#include "src/storage/key.h"

#include <stdexcept>

#include <fmt/format.h>

namespace smdebug::storage {

bool IsValidKey(std::string_view key) noexcept {
  if (key.ends_with(kPendingSuffix)) return false;
  if (key.find('\0') != std::string_view::npos) return false;
  for (size_t begin = 0;;) {
    const size_t slash = key.find('/', begin);
    const std::string_view component = key.substr(begin, slash - begin);
    if (component.empty() || component == "." || component == "..") {
      return false;
    }
    if (slash == std::string_view::npos) return true;
    begin = slash + 1;
  }
}

void CheckKey(std::string_view key) {
  if (IsValidKey(key)) return;
  throw std::invalid_argument(fmt::format(
      "storage key '{}' is not allowed; expected a relative path of names "
      "joined by '/', none of them empty, \".\" or \"..\", that does not end "
      "in \"{}\"",
      key, kPendingSuffix));
}

}  // namespace smdebug::storage
