#include "src/actions/spec.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "src/actions/words.h"
#include "src/base/text.h"

namespace smdebug {
namespace actions {
namespace {

constexpr std::string_view kForms =
    "stop, stop:<pid>, stop:-<process group>, email:<address>, sms:+<number>, "
    "webhook:<http or https URL>, exec:<command>";

bool IsPlain(std::string_view text) {
  return !text.empty() && std::ranges::none_of(text, [](char c) {
    return static_cast<unsigned char>(c) <= ' ' || c == '\x7f';
  });
}

bool IsAddress(std::string_view text) {
  const size_t at = text.find('@');
  return IsPlain(text) && at != 0 && at != std::string_view::npos &&
         at + 1 < text.size() &&
         text.find_first_of("<>,;\"@", at + 1) == std::string_view::npos &&
         text.find_first_of("<>,;\"") == std::string_view::npos;
}

bool IsPhoneNumber(std::string_view text) {
  constexpr size_t kMostDigits = 15;
  return text.size() >= 2 && text.size() <= kMostDigits + 1 && text[0] == '+' &&
         text.find_first_not_of("0123456789", 1) == std::string_view::npos;
}

bool IsWebUrl(std::string_view text) {
  const std::string lower = base::Lower(text.substr(0, 8));
  const size_t host = lower == "https://"            ? 8
                      : lower.starts_with("http://") ? 7
                                                     : text.size();
  return IsPlain(text) && host < text.size() && text[host] != '/';
}

// What is allowed, if the target is not.
std::string_view WhatIsAllowed(const ActionSpec& spec) {
  switch (spec.kind) {
    case ActionKind::kStop: {
      if (spec.target.empty()) return {};
      const auto number = base::ParseInt(spec.target);
      constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
      if (number && *number >= -kMost && *number <= kMost &&
          (*number > 1 || *number < -1)) {
        return {};
      }
      return "a process id above 1, or - and a process group above 1";
    }
    case ActionKind::kEmail:
      return IsAddress(spec.target) ? "" : "an address such as name@domain.com";
    case ActionKind::kSms:
      return IsPhoneNumber(spec.target) ? "" : "a + and 1 to 15 digits";
    case ActionKind::kWebhook:
      return IsWebUrl(spec.target) ? "" : "a URL with http:// or https://";
    case ActionKind::kExec:
      return SplitCommand(spec.target)
                 ? ""
                 : "a command with its quotes closed, or a JSON list of texts";
  }
  return {};
}

}  // namespace

std::optional<ActionKind> FindKind(std::string_view name) {
  const std::string lower = base::Lower(name);
  for (const ActionKind kind :
       {ActionKind::kStop, ActionKind::kEmail, ActionKind::kSms,
        ActionKind::kWebhook, ActionKind::kExec}) {
    if (lower == ActionKindName(kind)) return kind;
  }
  if (lower == "stoptraining") return ActionKind::kStop;
  return std::nullopt;
}

void CheckTarget(const ActionSpec& spec) {
  const std::string_view allowed = WhatIsAllowed(spec);
  if (!allowed.empty()) {
    throw ConfigError(fmt::format("action {}", ActionKindName(spec.kind)),
                      spec.target, allowed);
  }
}

}  // namespace actions

ActionSpec ParseAction(std::string_view text) {
  const std::string_view trimmed = base::Trim(text);
  const size_t colon = trimmed.find(':');
  const auto kind = actions::FindKind(trimmed.substr(0, colon));
  if (!kind ||
      (colon == std::string_view::npos && *kind != ActionKind::kStop)) {
    throw ConfigError("action", text, actions::kForms);
  }
  ActionSpec spec{.kind = *kind};
  if (colon != std::string_view::npos) {
    spec.target = base::Trim(trimmed.substr(colon + 1));
    if (spec.target.empty()) {
      throw ConfigError("action", text, actions::kForms);
    }
  }
  actions::CheckTarget(spec);
  return spec;
}

}  // namespace smdebug
