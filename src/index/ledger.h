#pragma once

#include "src/run/ledger.h"

namespace smdebug::index {
using run::Ledger;
using run::ParseLedger;
using run::ToJson;
}  // namespace smdebug::index
