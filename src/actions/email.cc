#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "src/actions/action_type.h"
#include "src/actions/mail_text.h"
#include "src/actions/message.h"
#include "src/base/environment.h"

namespace smdebug::actions {
namespace {

constexpr std::string_view kEmail = "email";

bool IsAddress(std::string_view text) {
  const size_t at = text.find('@');
  return IsPlain(text) && at != 0 && at != std::string_view::npos &&
         at + 1 < text.size() &&
         text.find_first_of("<>,;\"@", at + 1) == std::string_view::npos &&
         text.find_first_of("<>,;\"") == std::string_view::npos;
}

std::string Require(const char* name, std::string_view meaning) {
  auto value = base::GetEnv(name);
  if (!value || value->empty()) {
    throw ConfigError::NotSet(fmt::format("action {}: {}", kEmail, name),
                              meaning);
  }
  return *std::move(value);
}

// Sends a mail through the server of SMDEBUG_SMTP_URL, from SMDEBUG_SMTP_FROM,
// as SMDEBUG_SMTP_USER with SMDEBUG_SMTP_PASSWORD if they are set.
class Email final : public Action {
 public:
  // Reads the environment. Throws ConfigError if there is no server.
  Email(std::string address, const TransferLimits& limits)
      : address_(std::move(address)),
        url_(ServerUrl()),
        from_(Require("SMDEBUG_SMTP_FROM", "the sender's address")),
        user_(base::GetEnv("SMDEBUG_SMTP_USER").value_or("")),
        password_(base::GetEnv("SMDEBUG_SMTP_PASSWORD").value_or("")),
        limits_(limits) {}

  std::string_view kind() const noexcept override { return kEmail; }
  std::string target() const override { return address_; }

  std::string Do(const Firing& firing) override {
    const Mail mail{.url = url_,
                    .user = user_,
                    .password = password_,
                    .from = from_,
                    .to = address_,
                    .text = MailText({.from = from_,
                                      .to = address_,
                                      .subject = SubjectOf(firing),
                                      .body = TextOf(firing)})};
    const TransferResult result = Send(mail);
    if (result.kind != TransferResult::Kind::kDone) {
      throw ActionError(
          kEmail, fmt::format("{}: {}", PublicPartOf(mail.url), result.error));
    }
    return fmt::format("sent through {}", PublicPartOf(mail.url));
  }

 private:
  static std::string ServerUrl() {
    constexpr const char* kVariable = "SMDEBUG_SMTP_URL";
    constexpr std::string_view kUrls = "smtp://host:port or smtps://host:port";
    std::string url = Require(kVariable, kUrls);
    if (!url.starts_with("smtp://") && !url.starts_with("smtps://")) {
      throw ConfigError(fmt::format("action {}: {}", kEmail, kVariable),
                        PublicPartOf(url), kUrls);
    }
    return url;
  }

  TransferResult Send(const Mail& mail) const {
    try {
      return SendMail(mail, limits_);
    } catch (const std::runtime_error& error) {
      throw ActionError(kEmail, error.what());
    }
  }

  const std::string address_;
  const std::string url_;
  const std::string from_;
  const std::string user_;
  const std::string password_;
  const TransferLimits limits_;
};

}  // namespace

ActionType EmailType() {
  return {.name = kEmail,
          .forms = "email:ADDRESS",
          .target_keys = {"endpoint"},
          .is_allowed = IsAddress,
          .allowed = "an address such as name@domain.com",
          .make = [](const ActionSpec& spec,
                     const ActionOptions& options) -> std::unique_ptr<Action> {
            return std::make_unique<Email>(spec.target, LimitsOf(options));
          }};
}

}  // namespace smdebug::actions
