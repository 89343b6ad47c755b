#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace smdebug::actions {

// The words of a command: a JSON list of texts, or a text split as a POSIX
// shell splits it. Blanks separate words; '...', "..." and \ quote. Nothing is
// expanded. nullopt for an open quote, a list of anything else, or no word.
std::optional<std::vector<std::string>> SplitCommand(std::string_view command);

}  // namespace smdebug::actions
