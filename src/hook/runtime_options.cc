#include <string>

#include "smdebug/error.h"
#include "smdebug/hook.h"
#include "src/base/environment.h"
#include "src/base/text.h"

namespace smdebug {
namespace {

std::string Environment(const char* name) {
  return std::string(base::Trim(base::GetEnv(name).value_or("")));
}

}  // namespace

RuntimeOptions RuntimeOptions::FromEnvironment() {
  RuntimeOptions options;
  if (const auto text = Environment("SMDEBUG_BUFFER_MB"); !text.empty()) {
    const auto megabytes = base::ParseInt(text);
    constexpr int64_t kMost = int64_t{1} << 24;
    if (!megabytes || *megabytes < 1 || *megabytes > kMost) {
      throw ConfigError("SMDEBUG_BUFFER_MB", text,
                        "a whole number of megabytes, 1 to 16777216");
    }
    options.buffer_bytes = static_cast<uint64_t>(*megabytes) << 20;
  }
  if (const auto text = Environment("SMDEBUG_ON_FULL"); text == "drop") {
    options.on_full = OnFull::kDrop;
  } else if (!text.empty() && text != "block") {
    throw ConfigError("SMDEBUG_ON_FULL", text, "'block' or 'drop'");
  }
  if (const auto text = Environment("SMDEBUG_FSYNC"); text == "step") {
    options.durability = Durability::kPowerLoss;
  } else if (!text.empty() && text != "off") {
    throw ConfigError("SMDEBUG_FSYNC", text, "'step' or 'off'");
  }
  if (const auto text = Environment("SMDEBUG_STRICT"); text == "1") {
    options.strict = true;
  } else if (!text.empty() && text != "0") {
    throw ConfigError("SMDEBUG_STRICT", text, "'1' or '0'");
  }
  return options;
}

}  // namespace smdebug
