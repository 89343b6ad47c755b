#define PCRE2_CODE_UNIT_WIDTH 8
#include "src/base/regex.h"

#include <pcre2.h>

#include <array>

#include <fmt/format.h>

#include "smdebug/error.h"

namespace smdebug::base {
namespace {

constexpr uint32_t kMatchLimit = 1'000'000;
constexpr uint32_t kDepthLimit = 10'000;

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
  const int found =
      pcre2_match(code_->code, reinterpret_cast<PCRE2_SPTR>(text.data()),
                  text.size(), 0, 0, match, code_->context);
  pcre2_match_data_free(match);
  return found >= 0;
}

}  // namespace smdebug::base
