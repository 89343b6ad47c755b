#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "smdebug/config.h"
#include "src/config/json_text.h"

namespace smdebug::config {

// Saves the tensor itself and nothing else: what is done unless configured.
ReductionConfig RawOnly();

// Whether anything of a tensor is saved.
bool SavesAnything(const ReductionConfig& form) noexcept;

// Each reduction once, in the order in which smdebug 1.0 writes them: plain
// ones, norms, those of absolute values, norms of absolute values. Ones that it
// does not know end their part.
std::vector<Reduction> InWrittenOrder(const std::vector<Reduction>& reductions);

// What is allowed in place of `name`, and what it may have meant.
std::string AllowedReductions(std::string_view name);

// Reductions in any documented spelling, as an array of strings or separated
// by commas. Throws ConfigError.
std::vector<Reduction> ReadReductions(const Json& value, std::string_view key);

// From the object that ToJson() writes. `place` starts the keys of errors.
ReductionConfig ReadReductionConfig(const Json& value,
                                    const std::string& place);

}  // namespace smdebug::config
