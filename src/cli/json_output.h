#pragma once

#include <iosfwd>
#include <span>

#include <nlohmann/json.hpp>

#include "smdebug/tensor.h"
#include "src/cli/elements.h"

namespace smdebug::cli {

// Keys stay in the order in which they are given.
using Json = nlohmann::ordered_json;

// JSON has no NaN and no infinities: they are the strings "NaN", "Infinity" and
// "-Infinity".
Json JsonNumber(double value);

// A number, a boolean or a string; a complex number as [real, imaginary].
Json JsonElement(const Element& element);

// A dense tensor as lists in lists, by its shape.
Json JsonArray(const TensorView& tensor);

// One document, indented, and a newline. Text that is not UTF-8 is replaced:
// a bad name must not cost the whole report.
void PrintJson(std::ostream& out, const Json& json);

// The same on one line.
void PrintJsonLine(std::ostream& out, const Json& json);

}  // namespace smdebug::cli
