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
    throw ActionError(kEmail,
                      fmt::format("{} is not set; allowed: {}", name, meaning));
  }
  return *std::move(value);
}

// Sends a mail through the server of SMDEBUG_SMTP_URL, from SMDEBUG_SMTP_FROM,
// as SMDEBUG_SMTP_USER with SMDEBUG_SMTP_PASSWORD if they are set.
class Email final : public Action {
 public:
  Email(std::string address, const TransferLimits& limits)
      : address_(std::move(address)), limits_(limits) {}

  std::string_view kind() const noexcept override { return kEmail; }
  std::string target() const override { return address_; }

  std::string Do(const Firing& firing) override {
    constexpr std::string_view kUrls = "smtp://host:port or smtps://host:port";
    Mail mail{.url = Require("SMDEBUG_SMTP_URL", kUrls),
              .from = Require("SMDEBUG_SMTP_FROM", "the sender's address"),
              .to = address_,
              .text = {}};
    if (!mail.url.starts_with("smtp://") && !mail.url.starts_with("smtps://")) {
      throw ActionError(kEmail,
                        fmt::format("SMDEBUG_SMTP_URL is {}; allowed: {}",
                                    PublicPartOf(mail.url), kUrls));
    }
    mail.user = base::GetEnv("SMDEBUG_SMTP_USER").value_or("");
    mail.password = base::GetEnv("SMDEBUG_SMTP_PASSWORD").value_or("");
    mail.text = MailText({.from = mail.from,
                          .to = mail.to,
                          .subject = SubjectOf(firing),
                          .body = TextOf(firing)});
    const TransferResult result = Send(mail);
    if (result.kind != TransferResult::Kind::kDone) {
      throw ActionError(
          kEmail, fmt::format("{}: {}", PublicPartOf(mail.url), result.error));
    }
    return fmt::format("sent through {}", PublicPartOf(mail.url));
  }

 private:
  TransferResult Send(const Mail& mail) const {
    try {
      return SendMail(mail, limits_);
    } catch (const std::runtime_error& error) {
      throw ActionError(kEmail, error.what());
    }
  }

  const std::string address_;
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
