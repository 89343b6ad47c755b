#include "src/actions/firing_json.h"

#include <algorithm>

#include "src/rules/reports/finding_json.h"

namespace smdebug::actions {
void AppendFiring(const Firing& firing, size_t most, base::JsonWriter& json) {
  json.Key("rule").String(firing.rule);
  json.Key("run").String(firing.run);
  json.Key("step");
  if (firing.step) {
    json.Int(*firing.step);
  } else {
    json.Null();
  }
  json.Key("message").String(firing.message);
  json.Key("suppressed").Int(firing.suppressed);
  json.Key("findings").BeginArray();
  const size_t count = std::min(most, firing.findings.size());
  for (size_t i = 0; i < count; ++i) {
    rules::AppendFinding(firing.findings[i], json);
  }
  json.EndArray();
}

std::string ToJson(const Firing& firing) {
  base::JsonWriter json;
  json.BeginObject();
  AppendFiring(firing, firing.findings.size(), json);
  json.EndObject();
  return json.Take();
}

}  // namespace smdebug::actions
