#include "src/actions/message.h"

#include <algorithm>
#include <iterator>
#include <stdexcept>

#include <fmt/format.h>

#include "src/actions/action_type.h"
#include "src/base/text.h"

namespace smdebug::actions {

std::string SubjectOf(const Firing& firing) {
  return fmt::format("SMDebugRule:{} fired", firing.rule);
}

std::string LineOf(const Firing& firing) {
  std::string line = fmt::format("{}. {}", SubjectOf(firing), firing.message);
  if (firing.message.empty() && firing.step) {
    line += fmt::format("Step {}.", *firing.step);
  }
  if (firing.suppressed > 0) {
    line += fmt::format(" ({} since the last message.)",
                        base::Counted(firing.suppressed, "more time"));
  }
  return line;
}

std::string TextOf(const Firing& firing) {
  std::string text = LineOf(firing);
  const auto out = std::back_inserter(text);
  if (!firing.run.empty()) fmt::format_to(out, "\nRun: {}", firing.run);
  if (firing.step) fmt::format_to(out, "\nStep: {}", *firing.step);
  constexpr size_t kMostFindings = 10;
  const size_t shown = std::min(firing.findings.size(), kMostFindings);
  for (size_t i = 0; i < shown; ++i) {
    fmt::format_to(out, "\n- {}", firing.findings[i].message);
  }
  if (shown < firing.findings.size()) {
    fmt::format_to(out, "\n- and {} more", firing.findings.size() - shown);
  }
  return text;
}

bool IsPlain(std::string_view text) {
  return !text.empty() && std::ranges::none_of(text, [](char c) {
    return static_cast<unsigned char>(c) <= ' ' || c == '\x7f';
  });
}

bool IsWebUrl(std::string_view text) {
  const std::string lower = base::Lower(text.substr(0, 8));
  const size_t host = lower == "https://"            ? 8
                      : lower.starts_with("http://") ? 7
                                                     : text.size();
  return IsPlain(text) && host < text.size() && text[host] != '/';
}

TransferLimits LimitsOf(const ActionOptions& options) {
  return {.timeout = options.timeout,
          .attempts = options.attempts,
          .backoff = options.backoff};
}

std::string Post(std::string_view kind, const std::string& url,
                 const std::string& json, const TransferLimits& limits) {
  TransferResult result;
  try {
    result = PostJson(url, json, limits);
  } catch (const std::runtime_error& error) {
    throw ActionError(kind, error.what());
  }
  if (result.kind != TransferResult::Kind::kDone) {
    throw ActionError(kind, result.error);
  }
  return fmt::format("answer {}", result.status);
}

std::string PublicPartOf(std::string_view url) {
  const size_t scheme = url.find("://");
  if (scheme == std::string_view::npos) return "(not a URL)";
  std::string_view host = url.substr(scheme + 3);
  const size_t end = host.find_first_of("/?#");
  const bool has_more = end != std::string_view::npos && end + 1 < host.size();
  host = host.substr(0, end);
  const size_t at = host.rfind('@');
  if (at != std::string_view::npos) host.remove_prefix(at + 1);
  return fmt::format("{}://{}{}", url.substr(0, scheme), host,
                     has_more ? "/..." : "");
}

}  // namespace smdebug::actions
