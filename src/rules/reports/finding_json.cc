#include "src/rules/reports/finding_json.h"

#include <cmath>

#include "smdebug/mode.h"

namespace smdebug::rules {
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

}  // namespace

void AppendFinding(const Finding& finding, base::JsonWriter& json) {
  json.BeginObject();
  json.Key("step");
  if (finding.step < 0) {
    json.Null();
  } else {
    json.Int(finding.step);
  }
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

}  // namespace smdebug::rules
