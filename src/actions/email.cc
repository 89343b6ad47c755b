
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "src/actions/mail_text.h"
#include "src/actions/message.h"
#include "src/base/environment.h"

namespace smdebug::actions {
namespace {

std::string Require(const char* name, std::string_view meaning) {
  auto value = base::GetEnv(name);
  if (!value || value->empty()) {
    throw ActionError("email",
                      fmt::format("{} is not set; allowed: {}", name, meaning));
  }
  return *std::move(value);
}

class Email final : public Action {
 public:
  Email(std::string address, const TransferLimits& limits)
      : address_(std::move(address)), limits_(limits) {}

  ActionKind kind() const noexcept override { return ActionKind::kEmail; }
  std::string target() const override { return address_; }

  std::string Do(const Firing& firing) override {
    constexpr std::string_view kUrls = "smtp://host:port or smtps://host:port";
    Mail mail{.url = Require("SMDEBUG_SMTP_URL", kUrls),
              .from = Require("SMDEBUG_SMTP_FROM", "the sender's address"),
              .to = address_,
              .text = {}};
    if (!mail.url.starts_with("smtp://") && !mail.url.starts_with("smtps://")) {
      throw ActionError("email",
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
          "email", fmt::format("{}: {}", PublicPartOf(mail.url), result.error));
    }
    return fmt::format("sent through {}", PublicPartOf(mail.url));
  }

 private:
  TransferResult Send(const Mail& mail) const {
    try {
      return SendMail(mail, limits_);
    } catch (const std::runtime_error& error) {
      throw ActionError("email", error.what());
    }
  }

  const std::string address_;
  const TransferLimits limits_;
};

}  // namespace

std::unique_ptr<Action> MakeEmail(const ActionSpec& spec,
                                  const TransferLimits& limits) {
  return std::make_unique<Email>(spec.target, limits);
}

}  // namespace smdebug::actions
