#include "src/actions/transfer.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <memory>
#include <stdexcept>
#include <thread>

#include <fmt/format.h>

#include "src/actions/curl.h"
#include "src/base/environment.h"

namespace smdebug::actions {
namespace {

// One transfer: its handle and the lists that it borrows. One thread at a time.
class Transfer {
 public:
  explicit Transfer(std::chrono::milliseconds timeout)
      : curl_(LoadCurl()), handle_(curl_.easy_init(), curl_.easy_cleanup) {
    if (handle_ == nullptr) throw std::runtime_error("libcurl has no memory");
    const auto limit = static_cast<long>(  // NOLINT(google-runtime-int)
        std::max<int64_t>(timeout.count(), 1));
    Set(CURLOPT_NOSIGNAL, 1L);
    Set(CURLOPT_TIMEOUT_MS, limit);
    Set(CURLOPT_CONNECTTIMEOUT_MS, limit);
    Set(CURLOPT_ERRORBUFFER, error_.data());
    Set(CURLOPT_WRITEFUNCTION, &Transfer::Ignore);
    if (const auto file = base::GetEnv("SMDEBUG_CA_FILE")) {
      Set(CURLOPT_CAINFO, file->c_str());
    }
  }

  ~Transfer() {
    for (curl_slist* list : lists_) curl_.slist_free_all(list);
  }
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;

  // An option that this libcurl does not know is left as it is.
  template <typename Value>
  void Set(CURLoption option, Value value) {
    const CURLcode code = curl_.easy_setopt(handle_.get(), option, value);
    if (code != CURLE_OK && code != CURLE_UNKNOWN_OPTION) {
      throw std::runtime_error(curl_.easy_strerror(code));
    }
  }

  void SetList(CURLoption option, std::initializer_list<std::string> items) {
    curl_slist* list = nullptr;
    for (const std::string& item : items) {
      list = curl_.slist_append(list, item.c_str());
    }
    lists_.push_back(list);
    Set(option, list);
  }

  TransferResult Perform() {
    const CURLcode code = curl_.easy_perform(handle_.get());
    TransferResult result;
    long status = 0;  // NOLINT(google-runtime-int)
    curl_.easy_getinfo(handle_.get(), CURLINFO_RESPONSE_CODE, &status);
    result.status = status;
    if (code == CURLE_OK) {
      result.kind = TransferResult::Kind::kDone;
      return result;
    }
    result.kind = code == CURLE_OPERATION_TIMEDOUT
                      ? TransferResult::Kind::kTimeout
                      : TransferResult::Kind::kFailed;
    result.error =
        error_[0] != '\0' ? error_.data() : curl_.easy_strerror(code);
    return result;
  }

 private:
  static size_t Ignore(char* /*bytes*/, size_t size, size_t count,
                       void* /*user*/) {
    return size * count;
  }

  const Curl& curl_;
  const std::unique_ptr<CURL, void (*)(CURL*)> handle_;
  std::vector<curl_slist*> lists_;
  std::array<char, CURL_ERROR_SIZE> error_{};
};

// libcurl asks for the mail piece by piece.
size_t ReadMail(char* out, size_t size, size_t count, void* left_void) {
  auto& left = *static_cast<std::string_view*>(left_void);
  const size_t taken = std::min(size * count, left.size());
  std::memcpy(out, left.data(), taken);
  left.remove_prefix(taken);
  return taken;
}

TransferResult Repeat(const TransferLimits& limits,
                      const std::function<TransferResult()>& once) {
  auto pause = limits.backoff;
  for (int attempt = 1;; ++attempt, pause *= 2) {
    TransferResult result = once();
    const bool may_pass =
        result.kind == TransferResult::Kind::kTimeout ||
        (result.kind == TransferResult::Kind::kRefused && result.status >= 500);
    if (!may_pass || attempt >= limits.attempts) {
      if (attempt > 1 && !result.error.empty()) {
        result.error += fmt::format(" ({} attempts)", attempt);
      }
      return result;
    }
    std::this_thread::sleep_for(pause);
  }
}

}  // namespace

TransferResult PostJson(const std::string& url, const std::string& json,
                        const TransferLimits& limits) {
  return Repeat(limits, [&] {
    Transfer transfer(limits.timeout);
    transfer.Set(CURLOPT_URL, url.c_str());
    transfer.Set(CURLOPT_PROTOCOLS_STR, "http,https");
    transfer.Set(CURLOPT_POST, 1L);
    transfer.Set(CURLOPT_POSTFIELDSIZE_LARGE,
                 static_cast<curl_off_t>(json.size()));
    transfer.Set(CURLOPT_POSTFIELDS, json.data());
    transfer.Set(CURLOPT_USERAGENT, "smdebug");
    transfer.SetList(CURLOPT_HTTPHEADER,
                     {"Content-Type: application/json", "Expect:"});
    TransferResult result = transfer.Perform();
    if (result.kind == TransferResult::Kind::kDone &&
        (result.status < 200 || result.status > 299)) {
      result.kind = TransferResult::Kind::kRefused;
      result.error = fmt::format("answer {}", result.status);
    }
    return result;
  });
}

TransferResult SendMail(const Mail& mail, const TransferLimits& limits) {
  return Repeat(limits, [&] {
    Transfer transfer(limits.timeout);
    transfer.Set(CURLOPT_URL, mail.url.c_str());
    transfer.Set(CURLOPT_PROTOCOLS_STR, "smtp,smtps");
    if (!mail.user.empty()) {
      transfer.Set(CURLOPT_USERNAME, mail.user.c_str());
      transfer.Set(CURLOPT_PASSWORD, mail.password.c_str());
    }
    transfer.Set(CURLOPT_USE_SSL,
                 static_cast<long>(  // NOLINT
                     mail.user.empty() ? CURLUSESSL_TRY : CURLUSESSL_ALL));
    transfer.Set(CURLOPT_MAIL_FROM, fmt::format("<{}>", mail.from).c_str());
    transfer.SetList(CURLOPT_MAIL_RCPT, {fmt::format("<{}>", mail.to)});
    std::string_view left = mail.text;
    transfer.Set(CURLOPT_UPLOAD, 1L);
    transfer.Set(CURLOPT_READFUNCTION, &ReadMail);
    transfer.Set(CURLOPT_READDATA, &left);
    TransferResult result = transfer.Perform();
    return result;
  });
}

std::string CurlVersion() { return LoadCurl().version(); }

}  // namespace smdebug::actions
