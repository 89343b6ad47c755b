#include "src/cli/shell/completion.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "smdebug/error.h"
#include "src/cli/shell/grammar.h"
#include "src/config/nearest.h"

namespace smdebug::cli {
namespace {

using Grammar = std::vector<GrammarCommand>;
using Kind = Values::Kind;

// `text` with each of `special` behind a backslash.
std::string Escaped(std::string_view text, std::string_view special) {
  std::string escaped;
  for (const char c : text) {
    if (special.find(c) != std::string_view::npos) escaped += '\\';
    escaped += c;
  }
  return escaped;
}

// Between single quotes, for bash and zsh.
std::string Quoted(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'') {
      quoted += "'\\''";
    } else {
      quoted += c;
    }
  }
  return quoted + "'";
}

// The same for fish.
std::string FishQuoted(std::string_view text) {
  return "'" + Escaped(text, "\\'") + "'";
}

std::string JoinWords(const Values& values) {
  return fmt::format("{}", fmt::join(values.words, " "));
}

constexpr std::string_view kBashHead = R"(# Completes smdebug in bash.
# Made by `smdebug completion bash`; load it with: source <(smdebug completion bash)

# Offers what begins with $2: folders, files, nothing, or the words that $1 is.
_smdebug_offer() {
  local IFS=$' \t\n'
  case $1 in
    @folder) mapfile -t COMPREPLY < <(compgen -d -- "$2"); compopt -o filenames 2>/dev/null ;;
    @file) mapfile -t COMPREPLY < <(compgen -f -- "$2"); compopt -o filenames 2>/dev/null ;;
    @anything) ;;
    *)
      local before=''
      if [[ $2 == *,* ]]; then before=${2%,*},; fi
      mapfile -t COMPREPLY < <(compgen -P "$before" -W "$1" -- "${2##*,}")
      if [[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == *: ]]; then compopt -o nospace 2>/dev/null; fi
      ;;
  esac
}

_smdebug() {
  local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}
  local option='' options='' valued='' values='' i place=0 word
  local -a places=()
  COMPREPLY=()

  # Bash ends words at '=' and ':', too.
  if [[ $current == : || $before == : ]]; then return; fi
  if [[ $current == = ]]; then
    option=$before current=
  elif [[ $before == = ]]; then
    option=${COMP_WORDS[COMP_CWORD - 2]}
  elif [[ $before == -* ]]; then
    option=$before
  fi
)";

constexpr std::string_view kBashTail = R"(
  if [[ -n $values ]]; then
    _smdebug_offer "$values" "$current"
    return
  fi
  if [[ $current == -* ]]; then
    _smdebug_offer "$options" "$current"
    return
  fi
  for ((i = 2; i < COMP_CWORD; i++)); do
    word=${COMP_WORDS[i]}
    case $word in
      = | :) ((i++)) ;;
      -*) if [[ $valued == *" $word "* && ${COMP_WORDS[i + 1]} != = ]]; then ((i++)); fi ;;
      *) ((place++)) ;;
    esac
  done
  if ((${#places[@]} == 0)); then return; fi
  if ((place >= ${#places[@]})); then
    if [[ -z $last_repeats ]]; then return; fi
    place=$((${#places[@]} - 1))
  fi
  _smdebug_offer "${places[place]}" "$current"
}

complete -F _smdebug smdebug
)";

std::string BashOffer(const Values& values) {
  switch (values.kind) {
    case Kind::kFolder:
      return "@folder";
    case Kind::kFile:
      return "@file";
    case Kind::kAnything:
      return "@anything";
    case Kind::kWords:
      return JoinWords(values);
  }
  return "";
}

std::string BashCase(const GrammarCommand& command) {
  std::string options;
  std::string valued;
  std::string values;
  for (const GrammarOption& option : command.options) {
    options += (options.empty() ? "" : " ") + option.name;
    if (!option.takes_value) continue;
    valued += option.name + ' ';
    values += fmt::format("        {}) values={} ;;\n", option.name,
                          Quoted(BashOffer(option.values)));
  }
  std::string places;
  for (const GrammarPlace& place : command.places) {
    places += (places.empty() ? "" : " ") + Quoted(BashOffer(place.values));
  }
  std::string text = fmt::format(
      "    {})\n      options={}\n      valued={}\n      places=({})\n",
      command.name, Quoted(options), Quoted(' ' + valued), places);
  if (!command.places.empty() && command.places.back().may_repeat) {
    text += "      last_repeats=1\n";
  }
  if (!values.empty()) {
    text += fmt::format("      case $option in\n{}      esac\n", values);
  }
  return text + "      ;;\n";
}

std::string BashScript(const Grammar& grammar) {
  std::string script(kBashHead);
  std::vector<std::string> names;
  for (const GrammarCommand& command : grammar) names.push_back(command.name);
  script += fmt::format(
      "\n  if ((COMP_CWORD == 1)); then\n"
      "    _smdebug_offer '{} --help --version' \"$current\"\n"
      "    return\n  fi\n"
      "  local last_repeats=''\n"
      "  case ${{COMP_WORDS[1]}} in\n",
      fmt::join(names, " "));
  for (const GrammarCommand& command : grammar) script += BashCase(command);
  script += "    *) return ;;\n  esac\n";
  script += kBashTail;
  return script;
}

// "RULE:(A B)", what _arguments takes for a value.
std::string ZshOffer(const std::string& name, const Values& values) {
  const std::string message = Escaped(name.empty() ? "value" : name, ":\\");
  switch (values.kind) {
    case Kind::kFolder:
      return message + ":_files -/";
    case Kind::kFile:
      return message + ":_files";
    case Kind::kAnything:
      return message + ": ";
    case Kind::kWords:
      return fmt::format("{}:({})", message, Escaped(JoinWords(values), ":"));
  }
  return "";
}

std::string ZshCase(const GrammarCommand& command) {
  std::string text =
      fmt::format("        {})\n          _arguments", command.name);
  const auto add = [&](const std::string& spec) {
    text += " \\\n            " + Quoted(spec);
  };
  for (const GrammarOption& option : command.options) {
    const std::string meaning = Escaped(option.meaning, "[]\\");
    if (!option.takes_value) {
      add(fmt::format("{}[{}]", option.name, meaning));
      continue;
    }
    add(fmt::format("{}{}=[{}]:{}", option.may_repeat ? "*" : "", option.name,
                    meaning, ZshOffer(option.value_name, option.values)));
  }
  int number = 0;
  for (const GrammarPlace& place : command.places) {
    ++number;
    add((place.may_repeat ? "*" : std::to_string(number)) + ":" +
        ZshOffer(place.name, place.values));
  }
  return text + "\n          ;;\n";
}

std::string ZshScript(const Grammar& grammar) {
  std::string script = R"(#compdef smdebug
# Completes smdebug in zsh.
# Made by `smdebug completion zsh`; load it with: source <(smdebug completion zsh)

_smdebug() {
  local context state state_descr line
  typeset -A opt_args
  _arguments -C \
    '(- *)--help[Show the commands]' \
    '(- *)--version[Show the version]' \
    '1:command:->command' \
    '*::argument:->argument'
  case $state in
    command)
      local -a commands=(
)";
  for (const GrammarCommand& command : grammar) {
    script += fmt::format(
        "        {}\n",
        Quoted(command.name + ":" + Escaped(command.meaning, "\\")));
  }
  script += R"(      )
      _describe -t commands command commands
      ;;
    argument)
      case $words[1] in
)";
  for (const GrammarCommand& command : grammar) script += ZshCase(command);
  script += R"(      esac
      ;;
  esac
}

# zsh runs the file itself when it is in $fpath.
if [[ $funcstack[1] == _smdebug ]]; then
  _smdebug "$@"
else
  compdef _smdebug smdebug
fi
)";
  return script;
}

// What follows `complete` for values; `required`: they belong to an option.
std::string FishOffer(const Values& values, bool required) {
  switch (values.kind) {
    case Kind::kFolder:
      return std::string(required ? " -x" : "") +
             " -a '(__fish_complete_directories)'";
    case Kind::kFile:
      return required ? " -r -F" : " -F";
    case Kind::kAnything:
      return required ? " -x" : "";
    case Kind::kWords:
      return fmt::format("{} -a {}", required ? " -x" : "",
                         FishQuoted(JoinWords(values)));
  }
  return "";
}

std::string FishScript(const Grammar& grammar) {
  std::string script = R"(# Completes smdebug in fish.
# Made by `smdebug completion fish`; load it with: smdebug completion fish | source

complete -c smdebug -f
complete -c smdebug -n __fish_use_subcommand -l help -d 'Show the commands'
complete -c smdebug -n __fish_use_subcommand -l version -d 'Show the version'
)";
  for (const GrammarCommand& command : grammar) {
    script += fmt::format(
        "complete -c smdebug -n __fish_use_subcommand -a {} -d {}\n",
        command.name, FishQuoted(command.meaning));
  }
  for (const GrammarCommand& command : grammar) {
    const std::string head =
        fmt::format("complete -c smdebug -n '__fish_seen_subcommand_from {}'",
                    command.name);
    script += '\n';
    for (const GrammarOption& option : command.options) {
      script +=
          fmt::format("{} -l {}{} -d {}\n", head, option.name.substr(2),
                      option.takes_value ? FishOffer(option.values, true) : "",
                      FishQuoted(option.meaning));
    }
    for (const GrammarPlace& place : command.places) {
      const std::string offer = FishOffer(place.values, false);
      if (!offer.empty()) script += head + offer + '\n';
    }
  }
  return script;
}

struct Shell {
  std::string_view name;
  std::string (*script)(const Grammar& grammar);
};

constexpr std::array<Shell, 3> kShells = {
    {{"bash", BashScript}, {"zsh", ZshScript}, {"fish", FishScript}}};

}  // namespace

std::vector<std::string> ShellNames() {
  std::vector<std::string> names;
  for (const Shell& shell : kShells) names.emplace_back(shell.name);
  return names;
}

std::string CompletionScript(std::string_view shell) {
  const auto found = std::ranges::find(kShells, shell, &Shell::name);
  if (found == kShells.end()) {
    throw ConfigError("shell", shell, config::OneOf(shell, ShellNames()));
  }
  return found->script(MakeGrammar());
}

}  // namespace smdebug::cli
