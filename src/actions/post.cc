#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "src/actions/firing_json.h"
#include "src/actions/message.h"
#include "src/actions/spec.h"
#include "src/base/environment.h"

namespace smdebug::actions {
namespace {

// Posts, and tells how it went; `kind` names the action in errors.
std::string Post(ActionKind kind, const std::string& url,
                 const std::string& json, const TransferLimits& limits) {
  TransferResult result;
  try {
    result = PostJson(url, json, limits);
  } catch (const std::runtime_error& error) {
    throw ActionError(ActionKindName(kind), error.what());
  }
  if (result.kind != TransferResult::Kind::kDone) {
    throw ActionError(ActionKindName(kind),
                      fmt::format("{}: {}", PublicPartOf(url), result.error));
  }
  return fmt::format("answer {}", result.status);
}

class Sms final : public Action {
 public:
  Sms(std::string number, const TransferLimits& limits)
      : number_(std::move(number)), limits_(limits) {}

  ActionKind kind() const noexcept override { return ActionKind::kSms; }
  std::string target() const override { return number_; }

  std::string Do(const Firing& firing) override {
    constexpr const char* kVariable = "SMDEBUG_SMS_URL";
    const auto url = base::GetEnv(kVariable);
    try {
      CheckTarget({.kind = ActionKind::kWebhook, .target = url.value_or("")});
    } catch (const ConfigError& error) {
      throw ActionError("sms", fmt::format("{} is {}; allowed: {}", kVariable,
                                           url ? PublicPartOf(*url) : "not set",
                                           error.allowed()));
    }
    return Post(kind(), *url, Json(firing), limits_);
  }

 private:
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
  const TransferLimits limits_;
};

class Webhook final : public Action {
 public:
  Webhook(std::string url, const TransferLimits& limits)
      : url_(std::move(url)), limits_(limits) {}

  ActionKind kind() const noexcept override { return ActionKind::kWebhook; }
  std::string target() const override { return PublicPartOf(url_); }

  std::string Do(const Firing& firing) override {
    constexpr size_t kMostFindings = 20;
    base::JsonWriter json;
    json.BeginObject();
    json.Key("text").String(TextOf(firing));
    AppendFiring(firing, kMostFindings, json);
    json.EndObject();
    return Post(kind(), url_, json.Take(), limits_);
  }

 private:
  const std::string url_;
  const TransferLimits limits_;
};

}  // namespace

std::unique_ptr<Action> MakeSms(const ActionSpec& spec,
                                const TransferLimits& limits) {
  return std::make_unique<Sms>(spec.target, limits);
}

std::unique_ptr<Action> MakeWebhook(const ActionSpec& spec,
                                    const TransferLimits& limits) {
  return std::make_unique<Webhook>(spec.target, limits);
}

}  // namespace smdebug::actions
