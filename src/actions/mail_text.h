#pragma once

#include <string>
#include <string_view>

namespace smdebug::actions {

struct MailParts {
  std::string from;
  std::string to;
  std::string subject;  // UTF-8
  std::string body;     // UTF-8, lines ending in LF.
};

// A mail as RFC 5322 and MIME have it, lines ending in CR LF. Control
// characters in headers become blanks, so that nothing can add a header.
std::string MailText(const MailParts& parts);

// Base64 of `bytes`, in one line.
std::string Base64(std::string_view bytes);

}  // namespace smdebug::actions
