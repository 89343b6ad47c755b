#pragma once

#include <optional>
#include <string_view>

#include <nlohmann/json.hpp>

#include "smdebug/error.h"
#include "smdebug/trial.h"

// The parts of run_document.h that answer questions, and what they share with
// the rest of it.
namespace smdebug::testing {

// The answers to `questions`, in the order asked; null if there are none.
nlohmann::json AnswersOf(Trial& trial, const nlohmann::json& questions);

// The name of the class of `error`, without namespace.
std::string_view ClassName(const Error& error);

// Type, shape, and bytes or strings.
nlohmann::json ValueOf(const Value& value);

// What `ask` gives, or what it throws.
template <typename Ask>
nlohmann::json Answer(Ask ask) {
  try {
    return ask();
  } catch (const Error& error) {
    return {{"error", ClassName(error)}};
  }
}

template <typename T>
nlohmann::json OrNull(const std::optional<T>& value) {
  return value ? nlohmann::json(*value) : nlohmann::json();
}

}  // namespace smdebug::testing
