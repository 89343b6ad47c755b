#include "src/run/claim.h"

#include "smdebug/error.h"
#include "src/base/json_reader.h"
#include "src/base/json_writer.h"
#include "src/run/keys.h"

namespace smdebug::run {

std::string ToJson(const Claim& claim) {
  base::JsonWriter json;
  json.BeginObject();
  json.Key("run").String(claim.run);
  json.Key("worker").String(claim.worker);
  json.Key("num_workers").Int(claim.num_workers);
  json.Key("job").String(claim.job);
  json.Key("proofs").BeginArray();
  for (const std::string& proof : claim.proofs) json.String(proof);
  json.EndArray();
  json.Key("host").String(claim.host);
  json.Key("machine").String(claim.machine);
  json.Key("pid").Int(claim.pid);
  json.Key("start").Uint(claim.start);
  json.Key("claimed").Double(claim.claimed);
  json.Key("moving").String(claim.moving);
  json.EndObject();
  return json.Take();
}

std::optional<Claim> ParseClaim(std::string_view json) {
  if (json.empty()) return std::nullopt;
  try {
    const base::JsonReader reader(json, kClaimKey);
    const auto find = [&](std::string_view key) {
      return reader.Find(reader.root(), key);
    };
    const auto text = [&](std::string_view key, std::string& value) {
      if (const auto found = find(key)) {
        value = reader.GetString(*found, {.key = key});
      }
    };
    const auto number = [&](std::string_view key) {
      return reader.GetInt(reader.Require(reader.root(), key, {.key = key}),
                           {.key = key});
    };
    Claim claim;
    claim.host =
        reader.GetString(reader.Require(reader.root(), "host", {.key = "host"}),
                         {.key = "host"});
    claim.pid = number("pid");
    claim.start = static_cast<uint64_t>(number("start"));
    text("run", claim.run);
    text("worker", claim.worker);
    text("job", claim.job);
    text("machine", claim.machine);
    text("moving", claim.moving);
    if (const auto found = find("num_workers")) {
      claim.num_workers = reader.GetInt(*found, {.key = "num_workers"}, 1);
    }
    if (const auto found = find("claimed")) {
      claim.claimed = reader.GetDouble(*found, {.key = "claimed"});
    }
    if (const auto found = find("proofs")) {
      for (const auto proof : reader.GetArray(*found, {.key = "proofs"})) {
        claim.proofs.emplace_back(reader.GetString(proof, {.key = "proofs"}));
      }
    }
    // It names a place that files are moved to.
    if (!claim.moving.empty() && !IsPreviousPrefix(claim.moving)) {
      return std::nullopt;
    }
    return claim;
  } catch (const FormatError&) {
    return std::nullopt;
  }
}

}  // namespace smdebug::run
