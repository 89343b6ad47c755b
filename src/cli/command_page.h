#pragma once

#include <string>

namespace smdebug::cli {

// docs/reference/cli.md, made from the commands themselves: usage, options,
// examples, exit codes and details. `smdebug help --markdown` prints it.
std::string CommandPage();

}  // namespace smdebug::cli
