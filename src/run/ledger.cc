#include "src/run/ledger.h"

#include <type_traits>

#include "src/base/json_reader.h"
#include "src/base/json_writer.h"
#include "src/run/keys.h"

namespace smdebug {

HookStats& HookStats::operator+=(const HookStats& other) noexcept {
  ForEach([&](std::string_view, auto count) { this->*count += other.*count; });
  return *this;
}

namespace run {
namespace {

// Visits every plain field with its key, so that writing and reading cannot
// drift apart. `least` is the smallest allowed value of a whole number.
template <typename LedgerType, typename Visitor>
void VisitFields(LedgerType& ledger, Visitor& visitor) {
  visitor.Text("worker", ledger.worker);
  visitor.Whole("num_workers", ledger.num_workers, 1);
  visitor.Text("run", ledger.run);
  visitor.Text("job", ledger.job);
  visitor.Text("host", ledger.host);
  visitor.Text("machine", ledger.machine);
  visitor.Whole("pid", ledger.pid, 0);
  visitor.Whole("start", ledger.start, 0);
  visitor.Real("started", ledger.started);
  visitor.Real("updated", ledger.updated);
  visitor.Flag("closed", ledger.closed);
  visitor.Text("ending", ledger.ending);
  visitor.Text("reason", ledger.reason);
  visitor.Text("moving", ledger.moving);
  visitor.Whole("last_step", ledger.last_step, -1);
  HookStats::ForEach([&](std::string_view name, auto count) {
    auto& value = ledger.stats.*count;
    // The name that the first runs gave it.
    if (name == "values_saved") name = "tensors_saved";
    if constexpr (std::is_floating_point_v<
                      std::remove_cvref_t<decltype(value)>>) {
      visitor.Real(name, value);
    } else {
      visitor.Whole(name, value, 0);
    }
  });
}

struct FieldWriter {
  base::JsonWriter json;

  void Text(std::string_view key, const std::string& value) {
    json.Key(key).String(value);
  }
  void Whole(std::string_view key, int64_t value, int64_t /*least*/) {
    json.Key(key).Int(value);
  }
  void Whole(std::string_view key, uint64_t value, int64_t /*least*/) {
    json.Key(key).Uint(value);
  }
  void Real(std::string_view key, double value) { json.Key(key).Double(value); }
  void Flag(std::string_view key, bool value) { json.Key(key).Bool(value); }
};

struct FieldReader {
  const base::JsonReader& reader;

  void Text(std::string_view key, std::string& value) {
    if (const auto found = Find(key)) {
      value = reader.GetString(*found, {.key = key});
    }
  }
  template <typename Integer>
  void Whole(std::string_view key, Integer& value, int64_t least) {
    if (const auto found = Find(key)) {
      value = static_cast<Integer>(reader.GetInt(*found, {.key = key}, least));
    }
  }
  void Real(std::string_view key, double& value) {
    if (const auto found = Find(key)) {
      value = reader.GetDouble(*found, {.key = key});
    }
  }
  void Flag(std::string_view key, bool& value) {
    if (const auto found = Find(key)) {
      value = reader.GetBool(*found, {.key = key});
    }
  }

  std::optional<base::JsonReader::Element> Find(std::string_view key) const {
    return reader.Find(reader.root(), key);
  }
};

}  // namespace

std::string ToJson(const Ledger& ledger) {
  FieldWriter writer;
  writer.json.BeginObject();
  VisitFields(ledger, writer);
  writer.json.Key("messages").BeginObject();
  for (const auto& [kind, message] : ledger.messages) {
    writer.json.Key(kind).String(message);
  }
  writer.json.EndObject().EndObject();
  return writer.json.Take();
}

Ledger ParseLedger(std::string_view json, std::string_view file) {
  const base::JsonReader reader(json, file);
  Ledger ledger;
  FieldReader fields{reader};
  VisitFields(ledger, fields);
  // It names a place that files are moved to.
  if (!ledger.moving.empty() && !IsPreviousPrefix(ledger.moving)) {
    throw FormatError(file, "moving: expected \"previous/<n>/\"");
  }
  if (const auto messages = fields.Find("messages")) {
    const auto entries = reader.GetObject(*messages, {.key = "messages"});
    for (const auto [kind, message] : entries) {
      ledger.messages.insert_or_assign(
          std::string(kind), std::string(reader.GetString(
                                 message, {.list = "messages", .key = kind})));
    }
  }
  return ledger;
}

}  // namespace run
}  // namespace smdebug
