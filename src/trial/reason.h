#pragma once

#include <string>
#include <string_view>

#include "smdebug/error.h"

namespace smdebug::trial {

// What `error` says, less the file that it names first: where the file stands
// beside the reason, once is enough.
inline std::string ReasonOf(const Error& error, std::string_view file) {
  std::string_view reason = error.what();
  if (reason.starts_with(file) &&
      reason.substr(file.size()).starts_with(": ")) {
    reason.remove_prefix(file.size() + 2);
  }
  return std::string(reason);
}

}  // namespace smdebug::trial
