#include <string>

#include "smdebug/hook.h"
#include "src/base/text.h"
#include "src/base/variables.h"

namespace smdebug {

RuntimeOptions RuntimeOptions::FromEnvironment() {
  RuntimeOptions options;
  if (const auto megabytes =
          base::ParseInt(base::ReadVariable("SMDEBUG_BUFFER_MB"))) {
    options.buffer_bytes = static_cast<uint64_t>(*megabytes) << 20;
  }
  if (base::ReadVariable("SMDEBUG_ON_FULL") == "drop") {
    options.on_full = OnFull::kDrop;
  }
  if (base::ReadVariable("SMDEBUG_FSYNC") == "step") {
    options.durability = Durability::kPowerLoss;
  }
  options.strict = base::ReadVariable("SMDEBUG_STRICT") == "1";
  return options;
}

}  // namespace smdebug
