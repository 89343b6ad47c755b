#include "src/cli/man_page.h"

#include <algorithm>
#include <cctype>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "smdebug/version.h"
#include "src/cli/command.h"
#include "src/cli/command_page.h"

namespace smdebug::cli {
namespace {

// Literal characters, in which nothing is marked. A hyphen is a minus, so that
// options can be copied from the page.
std::string RoffText(std::string_view text) {
  std::string roff;
  for (const char c : text) {
    if (c == '\\') {
      roff += "\\e";
    } else if (c == '-') {
      roff += "\\-";
    } else if (c == '\'') {
      roff += "\\(aq";
    } else if (c == '^') {
      roff += "\\(ha";
    } else if (c == '~') {
      roff += "\\(ti";
    } else if (c == '`') {
      roff += "\\(ga";
    } else {
      roff += c;
    }
  }
  return roff;
}

std::string Bold(std::string_view text) {
  return fmt::format("\\fB{}\\fR", RoffText(text));
}

// Takes up to `end`, and `end` itself, from `text`, which has been found there.
std::string_view Take(std::string_view& text, std::string_view end) {
  const size_t at = std::min(text.find(end), text.size());
  const std::string_view taken = text.substr(0, at);
  text.remove_prefix(std::min(at + end.size(), text.size()));
  return taken;
}

// One line of Markdown: `code`, **bold**, [link](target) and backslashes.
std::string RoffLine(std::string_view text) {
  std::string roff;
  while (!text.empty()) {
    const size_t plain = std::min(text.find_first_of("`*[\\"), text.size());
    roff += RoffText(text.substr(0, plain));
    text.remove_prefix(plain);
    if (text.empty()) break;
    if (text.starts_with('`')) {
      text.remove_prefix(1);
      roff += Bold(Take(text, "`"));
    } else if (text.starts_with("**")) {
      text.remove_prefix(2);
      roff += fmt::format("\\fB{}\\fR", RoffLine(Take(text, "**")));
    } else if (text.starts_with('[') &&
               text.find("](") != std::string_view::npos) {
      text.remove_prefix(1);
      roff += RoffLine(Take(text, "]("));
      Take(text, ")");
    } else {
      if (text.starts_with('\\') && text.size() > 1) text.remove_prefix(1);
      roff += RoffText(text.substr(0, 1));
      text.remove_prefix(1);
    }
  }
  return roff;
}

// A line of text: one that begins like a request is none.
std::string Line(const std::string& roff) {
  return (roff.starts_with('.') ? "\\&" : "") + roff + '\n';
}

std::string Upper(std::string_view text) {
  std::string upper(text);
  std::ranges::transform(upper, upper.begin(), [](unsigned char c) {
    return static_cast<char>(std::toupper(c));
  });
  return upper;
}

// An entry of a list: `tag` and, indented, what it is.
std::string Entry(const std::string& tag, const std::string& text) {
  return ".TP\n" + Line(tag) + Line(text);
}

// "| a | b |": the cells as they stand.
std::vector<std::string_view> Cells(std::string_view row) {
  std::vector<std::string_view> cells;
  row.remove_prefix(1);
  while (!row.empty()) {
    size_t end = 0;
    while (end < row.size() &&
           (row[end] != '|' || (end > 0 && row[end - 1] == '\\'))) {
      ++end;
    }
    std::string_view cell = row.substr(0, end);
    row.remove_prefix(std::min(end + 1, row.size()));
    const size_t begin = std::min(cell.find_first_not_of(' '), cell.size());
    cell.remove_prefix(begin);
    cell = cell.substr(0, cell.find_last_not_of(' ') + 1);
    cells.push_back(cell);
  }
  return cells;
}

std::string TableRow(std::string_view row) {
  const auto cells = Cells(row);
  std::string rest;
  for (size_t i = 1; i < cells.size(); ++i) {
    rest += (i > 1 ? " " : "") + RoffLine(cells[i]);
  }
  return Entry(RoffLine(cells.empty() ? "" : cells[0]), rest);
}

constexpr std::string_view kBeginCode = ".PP\n.RS 4\n.nf\n";
constexpr std::string_view kEndCode = ".fi\n.RE\n";

std::string CommandRoff(Command& command) {
  CLI::App app;
  DeclareOn(app, command);
  const std::string call = fmt::format("smdebug {}", command.name());
  std::string roff =
      fmt::format(".SS {}\n{}{}\n.PP\n{}", call, Bold(call),
                  RoffText(Usage(app)), Line(RoffText(command.summary())));
  for (const CLI::Option* option : app.get_options()) {
    if (IsHelp(*option)) continue;
    roff += Entry(Bold(Spelling(*option)), RoffText(Meaning(*option)));
  }
  roff += ".PP\nExit codes:\n";
  for (const ExitCode& code : command.exit_codes()) {
    roff += Entry(Bold(std::to_string(code.code)), RoffText(code.meaning));
  }
  if (!command.details().empty()) roff += ".PP\n" + RoffOf(command.details());
  roff += kBeginCode;
  for (const std::string_view line : ExampleLines(command)) {
    roff += Line(RoffText(line));
  }
  roff += kEndCode;
  return roff;
}

}  // namespace

std::string RoffOf(std::string_view markdown) {
  std::string roff;
  bool in_code = false;
  bool begins_paragraph = false;
  std::string_view before;  // The line before.
  while (!markdown.empty()) {
    const std::string_view line = Take(markdown, "\n");
    const bool in_table = before.starts_with('|');
    if (line.starts_with("```")) {
      in_code = !in_code;
      roff += in_code ? kBeginCode : kEndCode;
      begins_paragraph = !in_code;
    } else if (in_code) {
      roff += Line(RoffText(line));
    } else if (line.starts_with("<!--")) {
      continue;  // For those who test the page.
    } else if (line.empty()) {
      begins_paragraph = !roff.empty();
    } else if (line.starts_with("#")) {
      const size_t level = line.find_first_not_of('#');
      const std::string_view title = line.substr(level + 1);
      roff += level <= 2 ? ".SH " + RoffText(Upper(title)) + "\n"
                         : ".SS " + RoffText(title) + "\n";
      begins_paragraph = false;
    } else if (line.starts_with('|')) {
      // The head and the rule below it say nothing here.
      const bool is_head = !in_table;
      if (!is_head && !line.starts_with("|---")) roff += TableRow(line);
      begins_paragraph = false;
    } else if (line.starts_with("- ")) {
      roff += ".IP \\(bu 2\n" + Line(RoffLine(line.substr(2)));
      begins_paragraph = false;
    } else {
      if (begins_paragraph || in_table) roff += ".PP\n";
      begins_paragraph = false;
      roff += Line(RoffLine(line));
    }
    before = line;
  }
  return roff;
}

std::string ManPage() {
  std::string page = fmt::format(
      ".\\\" Made by `smdebug help --man`; change src/cli, not this page.\n"
      ".TH SMDEBUG 1 \"\" \"smdebug {}\" \"User Commands\"\n"
      ".SH NAME\n"
      "smdebug \\- save, read and judge what a training job computes\n"
      ".SH SYNOPSIS\n",
      kVersion);
  for (const std::string_view call :
       {"smdebug <command> [options]", "smdebug help <command>",
        "smdebug --version"}) {
    page += Bold(call) + "\n.br\n";
  }
  page += ".SH DESCRIPTION\n";
  const auto commands = AllCommands();
  for (const auto& command : commands) {
    page += Entry(Bold(command->name()), RoffText(command->summary()));
  }
  page += ".PP\n" + RoffOf(CommonDetails());
  page += ".SH COMMANDS\n";
  for (const auto& command : commands) page += CommandRoff(*command);
  return page;
}

}  // namespace smdebug::cli
