#define PCRE2_CODE_UNIT_WIDTH 8
#include "src/base/regex.h"

#include <pcre2.h>

#include <array>
#include <exception>
#include <set>

#include <fmt/format.h>

#include "smdebug/error.h"
#include "src/base/log.h"
#include "src/base/mutex.h"

namespace smdebug::base {
namespace {

constexpr uint32_t kMatchLimit = 1'000'000;
constexpr uint32_t kDepthLimit = 10'000;

// Whether `pattern` has not been told of before. Programs that make up ever new
// patterns are told of some.
bool IsNews(const std::string& pattern) {
  constexpr size_t kMost = 1000;
  static Mutex mu;
  static std::set<std::string> told;
  const MutexLock lock(mu);
  return told.size() < kMost && told.insert(pattern).second;
}

void TellOfLimit(const std::string& pattern, std::string_view text) noexcept {
  try {
    if (!IsNews(pattern)) return;
    LogWarning(
        "the regular expression '{}' takes too long on '{}', which counts as "
        "no match; it may be so with other names, too",
        pattern, text.substr(0, 200));
  } catch (const std::exception&) {
    // No memory for the message.
  }
}

}  // namespace

struct Regex::Code {
  pcre2_code* code = nullptr;
  pcre2_match_context* context = nullptr;

  ~Code() {
    pcre2_match_context_free(context);
    pcre2_code_free(code);
  }
};

Regex::Regex(std::string_view pattern, std::string_view key)
    : pattern_(pattern), code_(std::make_unique<Code>()) {
  int error = 0;
  PCRE2_SIZE offset = 0;
  // Python's `$` also matches before a last newline and its \w knows Unicode.
  code_->code = pcre2_compile(reinterpret_cast<PCRE2_SPTR>(pattern_.data()),
                              pattern_.size(),
                              PCRE2_UTF | PCRE2_UCP | PCRE2_MATCH_INVALID_UTF |
                                  PCRE2_ALT_BSUX | PCRE2_NEVER_BACKSLASH_C,
                              &error, &offset, nullptr);
  if (code_->code == nullptr) {
    std::array<PCRE2_UCHAR, 256> reason{};
    pcre2_get_error_message(error, reason.data(), reason.size());
    throw ConfigError(
        key, pattern_,
        fmt::format("a regular expression; at character {}: {}", offset + 1,
                    reinterpret_cast<const char*>(reason.data())));
  }
  pcre2_jit_compile(code_->code, PCRE2_JIT_COMPLETE);  // Optional speed.
  code_->context = pcre2_match_context_create(nullptr);
  pcre2_set_match_limit(code_->context, kMatchLimit);
  pcre2_set_depth_limit(code_->context, kDepthLimit);
}

Regex::~Regex() = default;
Regex::Regex(Regex&&) noexcept = default;
Regex& Regex::operator=(Regex&&) noexcept = default;

bool Regex::Search(std::string_view text) const noexcept {
  pcre2_match_data* match = pcre2_match_data_create(1, nullptr);
  if (match == nullptr) return false;
  const auto search = [&](uint32_t options) {
    return pcre2_match(code_->code, reinterpret_cast<PCRE2_SPTR>(text.data()),
                       text.size(), 0, options, match, code_->context);
  };
  int found = search(0);
  // The compiled code has a small stack.
  if (found == PCRE2_ERROR_JIT_STACKLIMIT) found = search(PCRE2_NO_JIT);
  pcre2_match_data_free(match);
  if (found < 0 && found != PCRE2_ERROR_NOMATCH) TellOfLimit(pattern_, text);
  return found >= 0;
}

}  // namespace smdebug::base
