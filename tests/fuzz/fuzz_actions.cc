// The input is the action_json of a rule, and one action as a user writes it on
// a command line. None is done.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "smdebug/action.h"
#include "smdebug/error.h"
#include "smdebug/log.h"
#include "tests/fuzz/property.h"

namespace smdebug::fuzz {
namespace {

// The action as smdebug_rulesconfig would write it.
std::string ToJson(const ActionSpec& spec) {
  nlohmann::json json = {{"name", spec.kind}};
  const char* key = spec.kind == "stop"   ? "pid"
                    : spec.kind == "exec" ? "command"
                                          : "endpoint";
  if (!spec.target.empty()) json[key] = spec.target;
  if (!spec.job_prefix.empty()) json["training_job_prefix"] = spec.job_prefix;
  return json.dump();
}

// What was read can be made, but for a stop of a process that does not live and
// a program that is not there.
void CheckSpec(const ActionSpec& spec) {
  try {
    Require(MakeAction(spec, {}) != nullptr, "an action is made");
  } catch (const ConfigError&) {
    Require(
        (spec.kind == "stop" && !spec.target.empty()) || spec.kind == "exec",
        "what was read can be made");
  }
}

void CheckJson(std::string_view text) {
  for (const ActionSpec& spec : ParseActionJson(text, "Rule")) {
    CheckSpec(spec);
    Require(ParseActionJson(ToJson(spec), "Rule") == std::vector{spec},
            "an action that was read and written reads equal");
  }
}

void CheckText(std::string_view text) {
  ActionSpec spec;
  try {
    spec = ParseAction(text);
  } catch (const ConfigError&) {
    return;
  }
  CheckSpec(spec);
  std::string again = spec.kind;
  if (!spec.target.empty()) again += ":" + spec.target;
  Require(ParseAction(again) == spec,
          "an action that was read and written reads equal");
}

}  // namespace
}  // namespace smdebug::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const bool kIsSetUp = [] {
    // What is left out is logged.
    smdebug::SetLogSink([](smdebug::LogLevel, std::string_view) {});
    // NOLINTBEGIN(concurrency-mt-unsafe): nothing else runs yet.
    setenv("SMDEBUG_SMTP_URL", "smtp://localhost", 1);
    setenv("SMDEBUG_SMS_URL", "http://localhost", 1);
    setenv("SMDEBUG_SMTP_FROM", "me@localhost", 1);
    // NOLINTEND(concurrency-mt-unsafe)
    return true;
  }();
  static_cast<void>(kIsSetUp);
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  smdebug::fuzz::CheckJson(text);
  smdebug::fuzz::CheckText(text);
  return 0;
}
