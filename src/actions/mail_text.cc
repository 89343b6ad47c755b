#include "src/actions/mail_text.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <ctime>
#include <random>

#include <fmt/format.h>

#include "src/base/host.h"

namespace smdebug::actions {
namespace {

std::string OneLine(std::string_view text) {
  std::string line(text);
  for (char& c : line) {
    if (static_cast<unsigned char>(c) < ' ' || c == '\x7f') c = ' ';
  }
  return line;
}

bool IsAscii(std::string_view text) {
  return std::ranges::all_of(
      text, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

// Whether `byte` continues a character of UTF-8.
bool Continues(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U;
}

// A header's text as encoded words of RFC 2047 if it has to be.
std::string HeaderText(std::string_view text) {
  constexpr size_t kMostPlain = 60;
  std::string plain = OneLine(text);
  if (IsAscii(plain) && plain.size() <= kMostPlain) return plain;
  // Of at most 75 characters each, none of which cuts a character in two.
  constexpr size_t kBytes = 42;
  std::string out;
  std::string_view left = plain;
  while (!left.empty()) {
    size_t size = std::min(kBytes, left.size());
    while (size < left.size() && size > kBytes - 4 && Continues(left[size])) {
      --size;
    }
    if (!out.empty()) out += "\r\n ";
    out += fmt::format("=?utf-8?B?{}?=", Base64(left.substr(0, size)));
    left.remove_prefix(size);
  }
  return out;
}

// "Mon, 16 Nov 2026 09:51:05 +0000", whatever the locale.
std::string DateText() {
  constexpr std::array<std::string_view, 7> kDays = {"Sun", "Mon", "Tue", "Wed",
                                                     "Thu", "Fri", "Sat"};
  constexpr std::array<std::string_view, 12> kMonths = {
      "Jan", "Feb", "Mar", "Apr", "May", "Jun",
      "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const std::time_t now =
      std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  std::tm utc{};
  gmtime_r(&now, &utc);
  return fmt::format("{}, {:02} {} {} {:02}:{:02}:{:02} +0000",
                     kDays.at(static_cast<size_t>(utc.tm_wday)), utc.tm_mday,
                     kMonths.at(static_cast<size_t>(utc.tm_mon)),
                     utc.tm_year + 1900, utc.tm_hour, utc.tm_min, utc.tm_sec);
}

std::string MessageId() {
  std::random_device random;
  return fmt::format("<{:08x}{:08x}.smdebug@{}>", random(), random(),
                     base::HostName());
}

}  // namespace

std::string Base64(std::string_view bytes) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (size_t i = 0; i < bytes.size(); i += 3) {
    uint32_t group = 0;
    for (size_t j = 0; j < 3; ++j) {
      const unsigned char byte =
          i + j < bytes.size() ? static_cast<unsigned char>(bytes[i + j]) : 0;
      group = group << 8U | byte;
    }
    for (size_t j = 0; j < 4; ++j) {
      const bool is_padding = i + j > bytes.size();
      out.push_back(is_padding ? '='
                               : kDigits[group >> (18U - 6U * j) & 0x3FU]);
    }
  }
  return out;
}

std::string MailText(const MailParts& parts) {
  std::string body;
  for (const char c : parts.body) {
    if (c == '\n') body.push_back('\r');
    body.push_back(c);
  }
  body += "\r\n";
  std::string mail = fmt::format(
      "Date: {}\r\nFrom: {}\r\nTo: {}\r\nSubject: {}\r\nMessage-ID: {}\r\n"
      "MIME-Version: 1.0\r\nContent-Type: text/plain; charset=utf-8\r\n"
      "Content-Transfer-Encoding: base64\r\nAuto-Submitted: auto-generated\r\n"
      "\r\n",
      DateText(), OneLine(parts.from), OneLine(parts.to),
      HeaderText(parts.subject), MessageId());
  const std::string encoded = Base64(body);
  constexpr size_t kLine = 76;
  for (size_t i = 0; i < encoded.size(); i += kLine) {
    mail.append(encoded, i, kLine).append("\r\n");
  }
  return mail;
}

}  // namespace smdebug::actions
