// The input is a hook configuration, read for every framework.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "smdebug/config.h"
#include "smdebug/error.h"
#include "src/cli/output/plan_text.h"
#include "src/config/plan.h"
#include "tests/fuzz/property.h"

namespace smdebug::fuzz {
namespace {

constexpr Framework kFrameworks[] = {Framework::kNative, Framework::kPyTorch,
                                     Framework::kTensorFlow, Framework::kMxnet,
                                     Framework::kXgboost};

std::optional<HookConfig> Parse(std::string_view json, Framework framework) {
  try {
    return ParseHookConfig(json, framework);
  } catch (const ConfigError&) {
  } catch (const ConfigFileError&) {
  }
  return std::nullopt;
}

// A configuration that was read is valid, but for what the program may still
// add before it makes a hook: a collection that is named, or what is in it.
bool IsValid(const HookConfig& config) {
  try {
    Validate(config);
    return true;
  } catch (const ConfigError& error) {
    Require(error.key() == "include_collections", "what was read is valid");
  } catch (const InvalidCollectionConfiguration&) {
  }
  return false;
}

void CheckPlan(const HookConfig& config) {
  const config::Plan plan = config::MakePlan(config);
  for (const auto& [name, planned] : plan) {
    const Collection& collection = planned.collection;
    Require(CollectionFromJson(ToJson(collection)) == collection,
            "a collection that was written reads equal");
  }
  Require(!cli::DescribePlan(config, plan).empty(), "a plan can be described");
  Require(!cli::PlanToJson(config, plan).empty(), "a plan can be written");
}

}  // namespace
}  // namespace smdebug::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  namespace fuzz = smdebug::fuzz;
  const std::string_view json(reinterpret_cast<const char*>(data), size);
  for (const auto framework : fuzz::kFrameworks) {
    const auto config = fuzz::Parse(json, framework);
    if (config && fuzz::IsValid(*config)) fuzz::CheckPlan(*config);
  }
  return 0;
}
