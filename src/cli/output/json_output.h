#pragma once

#include <iosfwd>
#include <string>

#include "src/query/json.h"

namespace smdebug::cli {

using query::Json;

// One document, indented, and a newline. Text that is not UTF-8 is replaced:
// a bad name must not cost the whole report.
void PrintJson(std::ostream& out, const Json& json);

// The same on one line.
void PrintJsonLine(std::ostream& out, const Json& json);

// `json`, an object, with the run that it is about before all else.
Json WithRun(const std::string& run, const Json& json);

}  // namespace smdebug::cli
