#include "src/actions/audit.h"

#include <charconv>

#include "src/base/bytes.h"
#include "src/base/json_writer.h"
#include "src/run/keys.h"

namespace smdebug::actions {
namespace {

// Somebody wins each time, so this many losses are a store that is at fault.
constexpr int kMostAttempts = 1000;

// The number of the newest part, from 1 on, there or not.
int64_t NewestPart(const Storage& run) {
  int64_t newest = 1;
  for (const FileInfo& file : run.List(run::kLaterAuditPrefix)) {
    int64_t number = 0;
    std::from_chars(file.key.data() + run::kLaterAuditPrefix.size(),
                    file.key.data() + file.key.size(), number);
    if (number > newest && run::AuditKey(number) == file.key) newest = number;
  }
  return newest;
}

bool TryToAdd(Storage& run, std::string_view line) {
  const int64_t part = NewestPart(run);
  const std::string key = run::AuditKey(part);
  const auto read = run.ReadVersioned(key);
  if (!read) return run.CreateExclusive(key, base::AsBytes(line));
  if (read->text.size() >= kFullPartBytes) {
    return run.CreateExclusive(run::AuditKey(part + 1), base::AsBytes(line));
  }
  const std::string longer = read->text + std::string(line);
  return run.ReplaceIfUnchanged(key, read->version, base::AsBytes(longer));
}

}  // namespace

std::string AuditLine(const Firing& firing, const ActionOutcome& outcome,
                      double wall_seconds) {
  using Result = ActionOutcome::Result;
  base::JsonWriter json;
  json.BeginObject();
  json.Key("time").Double(wall_seconds);
  json.Key("run").String(firing.run_id.value_or(""));
  json.Key("rule").String(firing.rule);
  json.Key("step");
  if (firing.step) {
    json.Int(*firing.step);
  } else {
    json.Null();
  }
  json.Key("message").String(firing.message);
  json.Key("action").String(outcome.kind);
  json.Key("target").String(outcome.target);
  json.Key("outcome").String(ResultName(outcome.result));
  json.Key("detail").String(outcome.detail);
  json.Key("dry_run").Bool(outcome.result == Result::kDryRun);
  json.Key("suppressed").Bool(outcome.result == Result::kSuppressed);
  json.Key("suppressed_before").Int(outcome.suppressed);
  json.EndObject();
  return json.Take() + "\n";
}

void AddToAudit(Storage& run, std::string_view line) {
  for (int attempts = 0; attempts < kMostAttempts; ++attempts) {
    if (TryToAdd(run, line)) return;
  }
  throw IoError("add to", run.root() + '/' + std::string(run::kAuditKey),
                IoKind::kTransient, "others keep changing it");
}

}  // namespace smdebug::actions
