#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace smdebug::base {

// A compiled regular expression in Python's dialect, as far as PCRE2 shares it
// (look-around included). Matching is bounded: where a pattern would backtrack
// without end, it is not known whether it matches, and the log says so.
//
// Const calls are thread-safe.
class Regex {
 public:
  // Throws ConfigError, whose key is `key`, for a pattern that does not
  // compile; the message names the place and the reason.
  Regex(std::string_view pattern, std::string_view key);
  ~Regex();
  Regex(Regex&&) noexcept;
  Regex& operator=(Regex&&) noexcept;

  const std::string& pattern() const noexcept { return pattern_; }

  // Whether it matches anywhere in `text`, like Python's re.search. False if
  // that took too long to find out; the log names the pattern and the text, for
  // each pattern once.
  bool Search(std::string_view text) const noexcept;

 private:
  struct Code;
  std::string pattern_;
  std::unique_ptr<Code> code_;
};

}  // namespace smdebug::base
