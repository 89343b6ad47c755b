#include "src/actions/firing_json.h"

#include <algorithm>
#include <cmath>

#include "smdebug/mode.h"

namespace smdebug::actions {
namespace {

void AppendNumber(double number, base::JsonWriter& json) {
  if (std::isnan(number)) {
    json.String("NaN");
  } else if (std::isinf(number)) {
    json.String(number > 0 ? "Infinity" : "-Infinity");
  } else {
    json.Double(number);
  }
}

void AppendFinding(const Finding& finding, base::JsonWriter& json) {
  json.BeginObject();
  json.Key("step").Int(finding.step);
  json.Key("mode").String(ModeName(finding.mode));
  json.Key("tensor").String(finding.tensor);
  json.Key("worker").String(finding.worker);
  json.Key("value");
  AppendNumber(finding.value, json);
  json.Key("threshold");
  AppendNumber(finding.threshold, json);
  json.Key("message").String(finding.message);
  json.EndObject();
}

}  // namespace

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
  for (size_t i = 0; i < count; ++i) AppendFinding(firing.findings[i], json);
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
