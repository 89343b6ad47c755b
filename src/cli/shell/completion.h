#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace smdebug::cli {

// The shells that there is a script for: "bash", "zsh" and "fish".
std::vector<std::string> ShellNames();

// The script that completes commands, options, and what can be known of their
// values. Throws ConfigError for another shell.
std::string CompletionScript(std::string_view shell);

}  // namespace smdebug::cli
