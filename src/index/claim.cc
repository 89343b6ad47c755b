#include "src/index/claim.h"

#include <simdjson.h>

#include "src/base/json_writer.h"

namespace smdebug::index {

std::string ToJson(const Claim& claim) {
  base::JsonWriter json;
  json.BeginObject();
  json.Key("host").String(claim.host);
  json.Key("pid").Int(claim.pid);
  json.Key("start").Uint(claim.start);
  json.EndObject();
  return json.Take();
}

std::optional<Claim> ParseClaim(std::string_view json) {
  simdjson::dom::parser parser;
  simdjson::dom::object object;
  if (parser.parse(json.data(), json.size()).get(object)) return std::nullopt;
  Claim claim;
  std::string_view host;
  if (object["host"].get(host) || object["pid"].get(claim.pid) ||
      object["start"].get(claim.start)) {
    return std::nullopt;
  }
  claim.host = host;
  return claim;
}

}  // namespace smdebug::index
