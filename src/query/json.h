#pragma once

#include <nlohmann/json.hpp>

#include "smdebug/tensor.h"
#include "src/query/elements.h"

namespace smdebug::query {

// Keys stay in the order in which they are given.
using Json = nlohmann::ordered_json;

// JSON has no NaN and no infinities: they are the strings "NaN", "Infinity" and
// "-Infinity".
Json JsonNumber(double value);

// A number, a boolean or a string; a complex number as [real, imaginary].
Json JsonElement(const Element& element);

// A dense tensor as lists in lists, by its shape.
Json JsonArray(const TensorView& tensor);

}  // namespace smdebug::query
