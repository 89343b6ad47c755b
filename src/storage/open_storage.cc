#include <algorithm>
#include <cctype>
#include <string_view>

#include "smdebug/error.h"
#include "smdebug/storage.h"

namespace smdebug {
namespace {

// The "s3" of "s3://bucket"; empty for a path.
std::string_view SchemeOf(std::string_view url) {
  const size_t end = url.find("://");
  if (end == std::string_view::npos) return {};
  const std::string_view scheme = url.substr(0, end);
  const bool is_scheme = std::ranges::all_of(scheme, [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '+' || c == '-' || c == '.';
  });
  return is_scheme ? scheme : std::string_view();
}

}  // namespace

std::shared_ptr<Storage> OpenStorage(std::string_view url) {
  constexpr std::string_view kFile = "file://";
  if (url.starts_with(kFile)) return OpenLocalStorage(url.substr(kFile.size()));
  if (!SchemeOf(url).empty()) {
    throw ConfigError("storage url", url, "a local path or file://path");
  }
  return OpenLocalStorage(url);
}

}  // namespace smdebug
