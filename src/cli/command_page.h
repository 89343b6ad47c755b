#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace CLI {  // NOLINT(readability-identifier-naming): CLI11's name.
class App;
class Option;
}  // namespace CLI

namespace smdebug::cli {

class Command;

// docs/reference/cli.md, made from the commands themselves: usage, options,
// examples, exit codes and details. `smdebug help --markdown` prints it.
std::string CommandPage();

// What the pages of the commands are made of.

// What goes for every command, in Markdown.
std::string_view CommonDetails();

// Whether it is --help, which the pages leave out.
bool IsHelp(const CLI::Option& option);

// "--mode MODE", "--json", "run".
std::string Spelling(const CLI::Option& option);

// What it does, and its default.
std::string Meaning(const CLI::Option& option);

// " <run> [pattern] [options]".
std::string Usage(const CLI::App& app);

// Its examples, not indented.
std::vector<std::string_view> ExampleLines(const Command& command);

}  // namespace smdebug::cli
