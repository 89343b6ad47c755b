#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

// Names of the files below a run's root (docs/formats/run-folder.md).
namespace smdebug::run {

inline constexpr std::string_view kEndMarkerKey = "training_job_end.ts";
inline constexpr std::string_view kClaimKey = "claim.smd";

inline constexpr std::string_view kIndexPrefix = "index/";
inline constexpr std::string_view kEventsPrefix = "events/";
inline constexpr std::string_view kCollectionsPrefix = "collections/";
inline constexpr std::string_view kLedgerPrefix = "ledger/";
inline constexpr std::string_view kRulesPrefix = "rules/";
inline constexpr std::string_view kTensorboardPrefix = "tensorboard/";
inline constexpr std::string_view kPreviousPrefix = "previous/";

// Everything that a run consists of, besides its marker and its claim. Without
// the first of them no reader sees a step. Anything else in a folder is the
// user's.
inline constexpr std::array<std::string_view, 6> kRunPrefixes = {
    kIndexPrefix,  kCollectionsPrefix, kEventsPrefix,
    kLedgerPrefix, kRulesPrefix,       kTensorboardPrefix};

// "index/" as watches have it: "index".
constexpr std::string_view FolderOf(std::string_view prefix) {
  return prefix.substr(0, prefix.size() - 1);
}

// previous/<n>/
std::string PreviousPrefix(int64_t n);
bool IsPreviousPrefix(std::string_view text) noexcept;

// events/000000001234/000000001234_worker_0.tfevents. `step` is not negative.
std::string EventFileKey(int64_t step, std::string_view worker);

// index/000000001/000000001234_worker_0.json
std::string IndexFileKey(int64_t step, std::string_view worker);

// collections/000000000/worker_0_collections.json
std::string CollectionsFileKey(std::string_view worker);

// ledger/worker_0.json
std::string LedgerKey(std::string_view worker);

// `name` with '_' for what a file's name should not have.
std::string PlainName(std::string_view name);

// rules/<plain name>.json: what a rule says of the run.
std::string RuleReportKey(std::string_view name);
bool IsRuleReportKey(std::string_view key) noexcept;

// rules/<plain name>/<file>: what a rule has made for people.
std::string RuleFileKey(std::string_view name, std::string_view file);

// The audit trail of actions: its first part, for most runs the only one, and
// the others from the second on, rules/actions-000002.jsonl.
inline constexpr std::string_view kAuditKey = "rules/actions.jsonl";
inline constexpr std::string_view kLaterAuditPrefix = "rules/actions-";
std::string AuditKey(int64_t part);

// <MODE>/000000001234_<pid>_<host>.tfevents, below the TensorBoard root.
std::string TensorboardFileKey(std::string_view mode, int64_t step, int64_t pid,
                               std::string_view host);

struct StepFile {
  int64_t step = 0;
  std::string worker;
};

// A worker's name as file names have it, and back. The names of TensorFlow's
// devices start with '/', and stand with '_' for '/' and '-' for ':'; every
// other name stands for itself.
std::string EncodeWorker(std::string_view worker);
std::string DecodeWorker(std::string_view in_file_name);

// The inverse of EventFileKey and IndexFileKey; nullopt for any other key
// (".tmp" files among them). The worker is the name in the file, undecoded.
std::optional<StepFile> ParseStepFileKey(std::string_view key);

// The worker of a collections or ledger file; nullopt for any other key.
std::optional<std::string> ParseWorkerFileKey(std::string_view key);

// The worker, undecoded, that wrote a file of steps, whatever its layout, a
// collections or a ledger file: "<digits>_<worker>.<anything>" below index/ and
// events/. nullopt for any other key, ".tmp" files among them.
std::optional<std::string> WorkerOfKey(std::string_view key);

// Whether `worker` can stand in file names: not empty, no '/', no control
// character, at most 200 bytes.
bool IsValidWorkerName(std::string_view worker) noexcept;

}  // namespace smdebug::run
