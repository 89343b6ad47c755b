#include <utility>

#include "src/actions/action_type.h"
#include "src/actions/firing_json.h"
#include "src/actions/message.h"

namespace smdebug::actions {
namespace {

constexpr std::string_view kWebhook = "webhook";

// Posts {"text": ...}, which Slack and others show, with the firing beside it.
class Webhook final : public Action {
 public:
  Webhook(std::string url, const TransferLimits& limits)
      : url_(std::move(url)), limits_(limits) {}

  std::string_view kind() const noexcept override { return kWebhook; }
  std::string target() const override { return PublicPartOf(url_); }

  std::string Do(const Firing& firing) override {
    constexpr size_t kMostFindings = 20;
    base::JsonWriter json;
    json.BeginObject();
    json.Key("text").String(TextOf(firing));
    AppendFiring(firing, kMostFindings, json);
    json.EndObject();
    return Post(kWebhook, url_, json.Take(), limits_);
  }

 private:
  const std::string url_;
  const TransferLimits limits_;
};

}  // namespace

ActionType WebhookType() {
  return {.name = kWebhook,
          .forms = "webhook:URL",
          .target_keys = {"endpoint", "url"},
          .is_allowed = IsWebUrl,
          .allowed = kWebUrls,
          .make = [](const ActionSpec& spec,
                     const ActionOptions& options) -> std::unique_ptr<Action> {
            return std::make_unique<Webhook>(spec.target, LimitsOf(options));
          }};
}

}  // namespace smdebug::actions
