#include "src/cli/command_page.h"

#include <algorithm>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "src/cli/command.h"
#include "src/cli/output/text.h"

namespace smdebug::cli {
namespace {

constexpr std::string_view kHead = R"(# The command line

<!-- Made by `smdebug help --markdown`; change src/cli, not this page. -->

```
smdebug <command> [options]
smdebug --help              lists the commands
smdebug <command> --help    shows the options and examples of one
smdebug --version
```

| Command | |
|---|---|
)";

constexpr std::string_view kCommon = R"(
`<run>` is the folder that the hook was given as `out_dir`. The run may be finished, running or dead, and may have been written by smdebug 1.0. It is read as
it is at that moment; only `tail` and `watch` wait.

Results go to standard output, messages and progress to standard error. Colour and progress are for terminals; `NO_COLOR` turns the colour off. Names are
never cut; sentences are wrapped to the width of a terminal.

With `--json` standard output is one JSON document, or one per line where the command says so. JSON has no NaN and no infinities: they are the strings
`"NaN"`, `"Infinity"` and `"-Infinity"`. A complex number is a list of its two parts. Steps are whole numbers; a step that does not exist is null.

## Exit codes

| Code | Meaning |
|---|---|
| 0 | The command did what it was asked, and all is well. |
| 1 | The command worked and found something wrong. Each command says what counts as that. |
| 2 | A wrong call, or nothing could be done: an unknown command or option, a path that is not there, a file that cannot be read. |
| 130 | Ctrl-C, in commands that clean up before they end. |

With code 2 a line on standard error says what is wrong. What `check` and `watch` could not judge
stands in their output, beside the rule.
)";

// Plain text as a cell of a table: '|' would end the cell, the others mean
// something in Markdown.
std::string Cell(std::string_view text) {
  std::string cell;
  for (const char c : text) {
    if (std::string_view("|<*").find(c) != std::string_view::npos) cell += '\\';
    cell += c;
  }
  return cell;
}

// Collects the lines of a paragraph or of an item of a list, and gives them
// back as wide as the documents have them.
class Paragraph {
 public:
  void Add(std::string_view line) {
    if (!text_.empty()) text_ += ' ';
    text_ += line.substr(std::min(line.find_first_not_of(' '), line.size()));
  }

  std::string Take() {
    constexpr size_t kColumns = 100;
    const std::string_view indent = text_.starts_with("- ") ? "  " : "";
    std::string wrapped;
    for (const std::string& line : WrapWords(text_, kColumns - indent.size())) {
      wrapped += fmt::format("{}{}\n", wrapped.empty() ? "" : indent, line);
    }
    text_.clear();
    return wrapped;
  }

 private:
  std::string text_;
};

// The page with its prose wrapped; code, tables and headings stay as they are.
std::string Wrapped(std::string_view page) {
  std::string wrapped;
  Paragraph paragraph;
  bool is_code = false;
  while (!page.empty()) {
    const size_t end = std::min(page.find('\n'), page.size() - 1);
    const std::string_view line = page.substr(0, end);
    page.remove_prefix(end + 1);
    const bool is_fence = line.starts_with("```");
    const bool is_prose =
        !is_code && !is_fence && !line.empty() &&
        std::string_view("|#<").find(line[0]) == std::string_view::npos;
    if (!is_prose || line.starts_with("- ")) wrapped += paragraph.Take();
    if (is_prose) {
      paragraph.Add(line);
    } else {
      wrapped += fmt::format("{}\n", line);
    }
    is_code ^= is_fence;
  }
  return wrapped + paragraph.Take();
}

std::string Section(Command& command) {
  CLI::App app;
  DeclareOn(app, command);
  const std::string name(command.name());
  std::string text =
      fmt::format("\n## smdebug {0}\n\n```\nsmdebug {0}{1}\n```\n\n{2}\n", name,
                  Usage(app), command.summary());
  text += "\n| Argument | Meaning |\n|---|---|\n";
  for (const CLI::Option* option : app.get_options()) {
    if (IsHelp(*option)) continue;
    text += fmt::format("| `{}` | {} |\n", Spelling(*option),
                        Cell(Meaning(*option)));
  }
  text += "\n| Exit code | When |\n|---|---|\n";
  for (const ExitCode& code : command.exit_codes()) {
    text += fmt::format("| {} | {} |\n", code.code, Cell(code.meaning));
  }
  text += "\n```\n";
  for (const std::string_view line : ExampleLines(command)) {
    text += fmt::format("{}\n", line);
  }
  text += "```\n";
  if (!command.details().empty()) {
    text += fmt::format("\n{}", command.details());
  }
  return text;
}

}  // namespace

bool IsHelp(const CLI::Option& option) { return option.check_lname("help"); }

std::string Spelling(const CLI::Option& option) {
  if (option.get_positional()) return option.get_name();
  std::string text = option.get_name();
  if (!option.get_type_name().empty()) text += ' ' + option.get_type_name();
  return text;
}

std::string Meaning(const CLI::Option& option) {
  std::string meaning = option.get_description();
  if (!option.get_default_str().empty()) {
    meaning += fmt::format("; default: {}", option.get_default_str());
  }
  return meaning;
}

std::string Usage(const CLI::App& app) {
  std::string usage;
  bool has_options = false;
  for (const CLI::Option* option : app.get_options()) {
    if (!option->get_positional()) {
      has_options |= !IsHelp(*option);
      continue;
    }
    usage += option->get_required() ? fmt::format(" <{}>", option->get_name())
                                    : fmt::format(" [{}]", option->get_name());
    if (option->get_items_expected_max() <= 1) continue;
    usage += "...";
    // The last of them, unless it is given by its option.
    if (app.get_option_no_throw("--tensor") != nullptr) usage += " <tensor>";
  }
  return has_options ? usage + " [options]" : usage;
}

std::vector<std::string_view> ExampleLines(const Command& command) {
  std::vector<std::string_view> lines;
  std::string_view examples = command.examples();
  while (!examples.empty()) {
    const size_t end = examples.find('\n');
    std::string_view line = examples.substr(0, end);
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    lines.push_back(line);
    examples.remove_prefix(end == std::string_view::npos ? examples.size()
                                                         : end + 1);
  }
  return lines;
}

std::string_view CommonDetails() { return kCommon; }

std::string CommandPage() {
  std::string page(kHead);
  const auto commands = AllCommands();
  for (const auto& command : commands) {
    page += fmt::format("| [`{0}`](#smdebug-{0}) | {1} |\n", command->name(),
                        command->summary());
  }
  page += kCommon;
  for (const auto& command : commands) page += Section(*command);
  return Wrapped(page);
}

}  // namespace smdebug::cli
