#pragma once

#include <string>
#include <string_view>

#include "smdebug/action.h"
#include "src/actions/transfer.h"

namespace smdebug::actions {

// "SMDebugRule:<rule> fired", as smdebug 1.0 has it.
std::string SubjectOf(const Firing& firing);

// The subject, the message, and how often it was held back, in one line.
std::string LineOf(const Firing& firing);

// The line, with run, step and the first findings in lines of their own.
std::string TextOf(const Firing& firing);

// Whether nothing in it is a blank or a control character.
bool IsPlain(std::string_view text);

// Whether it is what kWebUrls says.
bool IsWebUrl(std::string_view text);
inline constexpr std::string_view kWebUrls = "a URL with http:// or https://";

// How messages are sent.
TransferLimits LimitsOf(const ActionOptions& options);

// Posts, and tells how it went. Throws ActionError of action `kind`.
std::string Post(std::string_view kind, const std::string& url,
                 const std::string& json, const TransferLimits& limits);

// Scheme and host of a URL; the rest may be a secret.
std::string PublicPartOf(std::string_view url);

}  // namespace smdebug::actions
