#include <utility>

#include <fmt/format.h>

#include "src/actions/action_type.h"
#include "src/actions/message.h"
#include "src/base/environment.h"
#include "src/base/json_writer.h"

namespace smdebug::actions {
namespace {

constexpr std::string_view kSms = "sms";

bool IsPhoneNumber(std::string_view text) {
  constexpr size_t kMostDigits = 15;
  return text.size() >= 2 && text.size() <= kMostDigits + 1 && text[0] == '+' &&
         text.find_first_not_of("0123456789", 1) == std::string_view::npos;
}

// Posts what Amazon SNS takes for a text message to SMDEBUG_SMS_URL.
class Sms final : public Action {
 public:
  // Reads the environment. Throws ConfigError if there is no server.
  Sms(std::string number, const TransferLimits& limits)
      : number_(std::move(number)), url_(ServerUrl()), limits_(limits) {}

  std::string_view kind() const noexcept override { return kSms; }
  std::string target() const override { return number_; }

  std::string Do(const Firing& firing) override {
    return Post(kSms, url_, Json(firing), limits_);
  }

 private:
  static std::string ServerUrl() {
    constexpr const char* kVariable = "SMDEBUG_SMS_URL";
    const std::string key = fmt::format("action {}: {}", kSms, kVariable);
    std::string url = base::GetEnv(kVariable).value_or("");
    if (url.empty()) throw ConfigError::NotSet(key, kWebUrls);
    if (!IsWebUrl(url)) throw ConfigError(key, PublicPartOf(url), kWebUrls);
    return url;
  }

  std::string Json(const Firing& firing) const {
    base::JsonWriter json;
    json.BeginObject();
    json.Key("PhoneNumber").String(number_);
    json.Key("Subject").String(SubjectOf(firing));
    json.Key("Message").String(LineOf(firing));
    json.Key("MessageAttributes").BeginObject();
    json.Key("phone_num").BeginObject();
    json.Key("DataType").String("String");
    json.Key("StringValue").String(number_);
    json.EndObject().EndObject().EndObject();
    return json.Take();
  }

  const std::string number_;
  const std::string url_;
  const TransferLimits limits_;
};

}  // namespace

ActionType SmsType() {
  return {.name = kSms,
          .forms = "sms:+NUMBER",
          .target_keys = {"endpoint"},
          .is_allowed = IsPhoneNumber,
          .allowed = "a + and 1 to 15 digits",
          .make = [](const ActionSpec& spec,
                     const ActionOptions& options) -> std::unique_ptr<Action> {
            return std::make_unique<Sms>(spec.target, LimitsOf(options));
          }};
}

}  // namespace smdebug::actions
