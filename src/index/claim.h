#pragma once

#include "src/run/claim.h"

namespace smdebug::index {
using run::Claim;
using run::ParseClaim;
using run::ToJson;
}  // namespace smdebug::index
