#include "src/run/keys.h"

#include <algorithm>
#include <cctype>
#include <charconv>

#include <fmt/format.h>

namespace smdebug::run {
namespace {

constexpr std::string_view kEventsSuffix = ".tfevents";
constexpr std::string_view kIndexSuffix = ".json";
// smdebug 1.0 numbers this folder but never counts.
constexpr std::string_view kCollectionsFolder = "collections/000000000/";
constexpr std::string_view kCollectionsSuffix = "_collections.json";
constexpr std::string_view kLedgerSuffix = ".json";
constexpr std::string_view kReportSuffix = ".json";

constexpr int64_t kStepsPerIndexFolder = 1000;
constexpr size_t kMaxWorkerBytes = 200;

// Takes `prefix` and `suffix` off; nullopt if either is not there.
std::optional<std::string_view> Between(std::string_view text,
                                        std::string_view prefix,
                                        std::string_view suffix) {
  if (text.size() < prefix.size() + suffix.size() ||
      !text.starts_with(prefix) || !text.ends_with(suffix)) {
    return std::nullopt;
  }
  text.remove_prefix(prefix.size());
  text.remove_suffix(suffix.size());
  return text;
}

// Splits "<digits>_<worker>".
std::optional<StepFile> ParseStem(std::string_view stem) {
  StepFile file;
  const char* end = stem.data() + stem.size();
  const auto [at, error] = std::from_chars(stem.data(), end, file.step);
  if (error != std::errc() || file.step < 0 || at == end || *at != '_') {
    return std::nullopt;
  }
  file.worker = std::string(at + 1, end);
  if (!IsValidWorkerName(file.worker)) return std::nullopt;
  return file;
}

}  // namespace

std::string EventFileKey(int64_t step, std::string_view worker) {
  return fmt::format("{}{:012}/{:012}_{}{}", kEventsPrefix, step, step, worker,
                     kEventsSuffix);
}

std::string IndexFileKey(int64_t step, std::string_view worker) {
  return fmt::format("{}{:09}/{:012}_{}{}", kIndexPrefix,
                     step / kStepsPerIndexFolder, step, worker, kIndexSuffix);
}

std::string CollectionsFileKey(std::string_view worker) {
  return fmt::format("{}{}{}", kCollectionsFolder, worker, kCollectionsSuffix);
}

std::string LedgerKey(std::string_view worker) {
  return fmt::format("{}{}{}", kLedgerPrefix, worker, kLedgerSuffix);
}

std::string PlainName(std::string_view name) {
  std::string file;
  for (const char c : name) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0 ||
                       c == '-' || c == '_' || (c == '.' && !file.empty());
    file += plain ? c : '_';
  }
  return file;
}

std::string RuleReportKey(std::string_view name) {
  return fmt::format("{}{}{}", kRulesPrefix, PlainName(name), kReportSuffix);
}

bool IsRuleReportKey(std::string_view key) noexcept {
  const auto name = Between(key, kRulesPrefix, kReportSuffix);
  return name && name->find('/') == std::string_view::npos;
}

std::string RuleFileKey(std::string_view name, std::string_view file) {
  return fmt::format("{}{}/{}", kRulesPrefix, PlainName(name), file);
}

std::string AuditKey(int64_t part) {
  if (part == 1) return std::string(kAuditKey);
  return fmt::format("{}{:06}.jsonl", kLaterAuditPrefix, part);
}

std::string PreviousPrefix(int64_t n) {
  return fmt::format("{}{}/", kPreviousPrefix, n);
}

bool IsPreviousPrefix(std::string_view text) noexcept {
  const auto number = Between(text, kPreviousPrefix, "/");
  return number && !number->empty() && number->size() <= 18 &&
         std::ranges::all_of(*number,
                             [](char c) { return c >= '0' && c <= '9'; });
}

std::string TensorboardFileKey(std::string_view mode, int64_t step, int64_t pid,
                               std::string_view host) {
  return fmt::format("{}/{:012}_{}_{}{}", mode, step, pid, host, kEventsSuffix);
}

std::string EncodeWorker(std::string_view worker) {
  std::string name(worker);
  if (!worker.starts_with('/')) return name;
  std::ranges::replace(name, '/', '_');
  std::ranges::replace(name, ':', '-');
  return name;
}

std::string DecodeWorker(std::string_view in_file_name) {
  std::string name(in_file_name);
  if (!in_file_name.starts_with('_')) return name;
  std::ranges::replace(name, '_', '/');
  std::ranges::replace(name, '-', ':');
  return name;
}

std::optional<StepFile> ParseStepFileKey(std::string_view key) {
  const bool is_event = key.starts_with(kEventsPrefix);
  const auto inner = is_event ? Between(key, kEventsPrefix, kEventsSuffix)
                              : Between(key, kIndexPrefix, kIndexSuffix);
  if (!inner) return std::nullopt;
  const size_t slash = inner->find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  std::optional<StepFile> file = ParseStem(inner->substr(slash + 1));
  if (!file) return std::nullopt;
  // Composing the key again checks the folder and the padding at once.
  const std::string expected = is_event
                                   ? EventFileKey(file->step, file->worker)
                                   : IndexFileKey(file->step, file->worker);
  if (key != expected) return std::nullopt;
  return file;
}

std::optional<std::string> ParseWorkerFileKey(std::string_view key) {
  auto worker = Between(key, kCollectionsFolder, kCollectionsSuffix);
  if (!worker) worker = Between(key, kLedgerPrefix, kLedgerSuffix);
  if (!worker || !IsValidWorkerName(*worker)) return std::nullopt;
  return std::string(*worker);
}

std::optional<std::string> WorkerOfKey(std::string_view key) {
  if (!key.starts_with(kIndexPrefix) && !key.starts_with(kEventsPrefix)) {
    return ParseWorkerFileKey(key);
  }
  const std::string_view name = key.substr(key.rfind('/') + 1);
  const size_t dot = name.rfind('.');
  if (dot == std::string_view::npos || name.substr(dot) == ".tmp") {
    return std::nullopt;
  }
  std::optional<StepFile> file = ParseStem(name.substr(0, dot));
  if (!file) return std::nullopt;
  return std::move(file->worker);
}

bool IsValidWorkerName(std::string_view worker) noexcept {
  const auto forbidden = [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return c == '/' || byte < 0x20 || byte == 0x7F;
  };
  return !worker.empty() && worker.size() <= kMaxWorkerBytes &&
         std::ranges::none_of(worker, forbidden);
}

}  // namespace smdebug::run
