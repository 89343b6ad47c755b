#include "src/cli/shell/grammar.h"

#include <algorithm>

#include <CLI/CLI.hpp>

#include "smdebug/mode.h"
#include "smdebug/reduction.h"
#include "smdebug/rule.h"
#include "src/actions/action_type.h"
#include "src/base/text.h"
#include "src/cli/command.h"
#include "src/cli/shell/completion.h"
#include "src/config/framework.h"

namespace smdebug::cli {
namespace {

Values Words(std::vector<std::string> words) {
  return {.kind = Values::Kind::kWords, .words = std::move(words)};
}

Values RuleWords() {
  std::vector<std::string> names;
  for (const RuleType& type : BuiltInRules()) names.emplace_back(type.name);
  return Words(std::move(names));
}

Values ModeWords() {
  std::vector<std::string> names;
  for (const Mode mode : kModes) {
    names.push_back(base::Lower(ModeName(mode)));
  }
  return Words(std::move(names));
}

Values ReductionWords() {
  std::vector<std::string> names;
  for (const bool abs : {false, true}) {
    for (const ReductionOp op : kReductionOps) {
      names.push_back(ReductionName({op, abs}));
    }
  }
  return Words(std::move(names));
}

Values ActionWords() {
  std::vector<std::string> names;
  for (const actions::ActionType& type : actions::ActionTypes()) {
    names.push_back(std::string(type.name) + (type.needs_target ? ":" : ""));
  }
  return Words(std::move(names));
}

Values ValuesOf(const CLI::Option& option) {
  if (const auto found = FindValues(option.get_name())) return *found;
  return FindValues(option.get_type_name()).value_or(Values{});
}

// What is said of an option up to the details.
std::string Short(std::string_view description) {
  return std::string(description.substr(0, description.find(';')));
}

void Add(const CLI::Option& option, GrammarCommand& command) {
  const bool may_repeat = option.get_items_expected_max() > 1;
  if (option.get_positional()) {
    command.places.push_back({.name = option.get_name(),
                              .may_repeat = may_repeat,
                              .values = ValuesOf(option)});
    return;
  }
  GrammarOption made = {.name = "--" + option.get_lnames().front(),
                        .meaning = Short(option.get_description()),
                        .takes_value = option.get_items_expected_max() > 0};
  if (made.takes_value) {
    made.may_repeat =
        option.get_multi_option_policy() == CLI::MultiOptionPolicy::TakeAll;
    made.value_name = option.get_type_name();
    made.values = ValuesOf(option);
  }
  command.options.push_back(std::move(made));
}

}  // namespace

std::optional<Values> FindValues(std::string_view what) {
  using enum Values::Kind;
  const auto is_one_of = [&](std::initializer_list<std::string_view> names) {
    return std::ranges::find(names, what) != names.end();
  };
  if (is_one_of({"run", "runs", "a", "b", "RUN"})) return Values{kFolder};
  if (is_one_of({"file", "FILE"})) return Values{kFile};
  if (is_one_of({"name", "RULE"})) return RuleWords();
  if (what == "MODE") return ModeWords();
  if (what == "ACTION") return ActionWords();
  if (what == "--reduction") return ReductionWords();
  if (what == "--framework") return Words(config::FrameworkNames());
  if (what == "shell") return Words(ShellNames());
  // Only a run knows them, or nobody does.
  if (is_one_of({"tensor", "pattern", "NAME", "REGEX", "N", "S", "X"})) {
    return Values{kAnything};
  }
  return std::nullopt;
}

std::vector<GrammarCommand> MakeGrammar() {
  std::vector<GrammarCommand> grammar;
  std::vector<std::string> names;
  for (const auto& command : AllCommands()) {
    GrammarCommand made = {.name = std::string(command->name()),
                           .meaning = std::string(command->summary())};
    CLI::App app;
    DeclareOn(app, *command);
    for (const CLI::Option* option : app.get_options()) Add(*option, made);
    names.push_back(made.name);
    grammar.push_back(std::move(made));
  }
  grammar.push_back({.name = "help",
                     .meaning = "Show the options and examples of a command.",
                     .places = {{.name = "command", .values = Words(names)}}});
  return grammar;
}

}  // namespace smdebug::cli
