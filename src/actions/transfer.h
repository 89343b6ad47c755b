#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

namespace smdebug::actions {

// What came of a transfer.
struct TransferResult {
  enum class Kind { kDone, kTimeout, kRefused, kFailed };

  Kind kind = Kind::kFailed;
  int64_t status = 0;  // Of HTTP, or the last of SMTP; 0 if none came.
  std::string error = {};
};

// How long, and how often.
struct TransferLimits {
  std::chrono::milliseconds timeout;
  int attempts = 1;
  std::chrono::milliseconds backoff{0};
};

// Posts `json` to an http or https URL. Redirects are not followed. A 5xx
// answer and a timeout are tried again, nothing else is. Throws
// std::runtime_error if there is no libcurl.
TransferResult PostJson(const std::string& url, const std::string& json,
                        const TransferLimits& limits);

// A mail and the server that takes it.
struct Mail {
  std::string url;  // smtp://host:port or smtps://host:port
  std::string user = {};
  std::string password = {};
  std::string from;
  std::string to;
  std::string text;  // Headers and body, lines ending in CR LF.
};

// Hands a mail over. smtps is TLS from the start; smtp becomes TLS if the
// server offers it, and must do so before a password is sent. A timeout is
// tried again, nothing else is. Throws as PostJson() does.
TransferResult SendMail(const Mail& mail, const TransferLimits& limits);

// "libcurl/7.88.1 OpenSSL/3.0.15 ...": what would be loaded. Throws
// std::runtime_error if there is none.
std::string CurlVersion();

}  // namespace smdebug::actions
