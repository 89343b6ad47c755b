#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace smdebug::cli {

// What a shell may offer for a value.
struct Values {
  enum class Kind { kAnything, kFolder, kFile, kWords };

  Kind kind = Kind::kAnything;
  std::vector<std::string> words = {};  // All that there are, of kWords.
};

// What is known of the values that are written so: by an option's name, such as
// "--reduction", by the word for its value, such as "FILE", or by the name of a
// positional argument. Nullopt for what is not in the table, which a test
// refuses.
std::optional<Values> FindValues(std::string_view what);

struct GrammarOption {
  std::string name;  // "--rule".
  std::string meaning;
  bool takes_value = false;
  bool may_repeat = false;
  std::string value_name = {};  // "RULE".
  Values values = {};
};

struct GrammarPlace {
  std::string name;  // "run".
  bool may_repeat = false;
  Values values = {};
};

struct GrammarCommand {
  std::string name;
  std::string meaning;
  std::vector<GrammarOption> options = {};
  std::vector<GrammarPlace> places = {};
};

// What may be typed after `smdebug`, as the commands themselves declare it.
std::vector<GrammarCommand> MakeGrammar();

}  // namespace smdebug::cli
