#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

#include "smdebug/mode.h"

namespace smdebug {

// Root of everything this library throws. A leaf carries fields, not only text.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// A configuration names something that is not allowed. `key` is the parameter
// as the user wrote it ("train.save_interval", "collection weights:
// reductions"), `value` what it was given, `allowed` what would be accepted.
class ConfigError : public Error {
 public:
  ConfigError(std::string_view key, std::string_view value,
              std::string_view allowed);

  // Something that is needed, such as an environment variable, is not set.
  static ConfigError NotSet(std::string_view key, std::string_view allowed);

  const std::string& key() const noexcept { return key_; }
  const std::string& value() const noexcept { return value_; }
  const std::string& allowed() const noexcept { return allowed_; }

 private:
  struct WithMessage {};
  ConfigError(WithMessage tag, const std::string& message, std::string_view key,
              std::string_view allowed);

  std::string key_;
  std::string value_;
  std::string allowed_;
};

// A collection that is saved has neither a regex nor tensor names, so it could
// never match. smdebug.exceptions.InvalidCollectionConfiguration in Python.
class InvalidCollectionConfiguration final : public Error {
 public:
  // `hint`, which may be empty, ends the message.
  explicit InvalidCollectionConfiguration(std::string_view collection,
                                          std::string_view hint = {});

  const std::string& collection() const noexcept { return collection_; }
  const std::string& hint() const noexcept { return hint_; }

 private:
  std::string collection_;
  std::string hint_;
};

// A configuration file could not be read, or is not JSON. `line` and `column`
// count from 1 and are 0 where no place can be named.
class ConfigFileError final : public Error {
 public:
  ConfigFileError(std::string_view path, int64_t line, int64_t column,
                  std::string_view reason);

  const std::string& path() const noexcept { return path_; }
  int64_t line() const noexcept { return line_; }
  int64_t column() const noexcept { return column_; }

 private:
  std::string path_;
  int64_t line_;
  int64_t column_;
};

// `out_dir` holds a finished run, which is never written into.
class RunExistsError final : public Error {
 public:
  explicit RunExistsError(std::string_view out_dir);

  const std::string& out_dir() const noexcept { return out_dir_; }

 private:
  std::string out_dir_;
};

// `out_dir` holds a run that another process is writing.
class RunBusyError final : public Error {
 public:
  RunBusyError(std::string_view out_dir, std::string_view host, int64_t pid,
               std::string_view worker);

  const std::string& out_dir() const noexcept { return out_dir_; }
  const std::string& host() const noexcept { return host_; }
  int64_t pid() const noexcept { return pid_; }

 private:
  std::string out_dir_;
  std::string host_;
  int64_t pid_;
};

// The folder holds another run now than when the trial was opened, or none.
class RunReplacedError final : public Error {
 public:
  RunReplacedError(std::string_view run, std::string_view opened,
                   std::string_view found);

  const std::string& opened() const noexcept { return opened_; }
  const std::string& found() const noexcept { return found_; }

 private:
  std::string opened_;
  std::string found_;
};

// What kept an operation on a file or object from being done.
enum class IoKind : uint8_t {
  kMissing,    // What it is about, or a folder on the way, is not there.
  kDenied,     // It is not allowed, and will not be until someone changes that.
  kNoSpace,    // The disk or the quota is full.
  kTransient,  // Busy, interrupted, cut off or out of handles: it may pass.
  kOther,
};

// An operation on a file or object failed.
class IoError final : public Error {
 public:
  // For an errno value.
  IoError(std::string_view operation, std::string_view path, int code);

  // For what has no errno value, such as the answer of a server. `reason` is
  // text for people.
  IoError(std::string_view operation, std::string_view path, IoKind kind,
          std::string_view reason);

  const std::string& path() const noexcept { return path_; }
  IoKind kind() const noexcept { return kind_; }

  // An errno value; without one, that which stands for the kind.
  int code() const noexcept { return code_; }

  // Whether the same again, a little later, may succeed.
  bool retryable() const noexcept { return kind_ == IoKind::kTransient; }

 private:
  std::string path_;
  IoKind kind_;
  int code_;
};

// What is wrong with a part of a run.
enum class DamageKind : uint8_t {
  kBadContent,      // What lies there is not the value that it should be.
  kMissingContent,  // A step names content that is not there.
  kShortContent,    // It ends before a value that it should hold.
  kChecksum,        // A value is not what was written.
  kBadIndex,        // A step does not tell what it holds.
  kBadName,         // What should be a step does not tell which one it is.
  kBadCollections,
  kBadLedger,
  kBadMarker,     // The end marker does not tell how the job ended.
  kMissingSteps,  // A ledger counts more steps than there are.
};

// "bad_content", "missing_content" and so on.
std::string_view DamageKindName(DamageKind kind) noexcept;

// A file of a run is not what its format says it is.
class FormatError final : public Error {
 public:
  FormatError(std::string_view file, std::string_view reason,
              DamageKind kind = DamageKind::kBadContent);

  const std::string& file() const noexcept { return file_; }
  // What what() says after the file.
  std::string_view reason() const noexcept {
    return std::string_view(what()).substr(file_.size() + 2);
  }
  DamageKind kind() const noexcept { return kind_; }

 private:
  std::string file_;
  DamageKind kind_;
};

// A tensor cannot be saved as asked: its kind, its shape or its size.
class UnsupportedTensor final : public Error {
 public:
  UnsupportedTensor(std::string_view tensor, std::string_view reason);

  const std::string& tensor() const noexcept { return tensor_; }

 private:
  std::string tensor_;
};

// A part of a run that is not what it should be.
struct Damage {
  std::string file;
  std::string reason;
  std::string tensor = {};  // Empty if it is the file as a whole.
  DamageKind kind = DamageKind::kBadContent;
  int64_t step = -1;  // That it is about, over all modes; -1 if it is of none.

  friend bool operator==(const Damage&, const Damage&) = default;
};

// The step may still be saved: the job has neither passed it nor ended.
class StepNotYetAvailable final : public Error {
 public:
  StepNotYetAvailable(int64_t step, Mode mode);

  int64_t step() const noexcept { return step_; }
  Mode mode() const noexcept { return mode_; }

 private:
  int64_t step_;
  Mode mode_;
};

// The step was not saved and never will be: the job has moved past it.
class StepUnavailable final : public Error {
 public:
  StepUnavailable(int64_t step, Mode mode);

  int64_t step() const noexcept { return step_; }
  Mode mode() const noexcept { return mode_; }

 private:
  int64_t step_;
  Mode mode_;
};

// The step has nothing of the tensor, or not its value but only reductions.
class TensorUnavailableForStep final : public Error {
 public:
  // `hint` is a sentence for people: what there is instead. `missing_file` is
  // the one that the index names, if that is the reason.
  TensorUnavailableForStep(std::string_view tensor, int64_t step, Mode mode,
                           bool has_reductions = false,
                           std::string_view hint = {},
                           std::string_view missing_file = {});

  const std::string& tensor() const noexcept { return tensor_; }
  int64_t step() const noexcept { return step_; }
  Mode mode() const noexcept { return mode_; }
  bool has_reductions() const noexcept { return has_reductions_; }
  const std::string& hint() const noexcept { return hint_; }
  const std::string& missing_file() const noexcept { return missing_file_; }

 private:
  std::string tensor_;
  int64_t step_;
  Mode mode_;
  bool has_reductions_;
  std::string hint_;
  std::string missing_file_;
};

// The step has neither a shape nor a value of the tensor.
class ShapeUnavailableForStep final : public Error {
 public:
  ShapeUnavailableForStep(std::string_view tensor, int64_t step, Mode mode);

  const std::string& tensor() const noexcept { return tensor_; }
  int64_t step() const noexcept { return step_; }
  Mode mode() const noexcept { return mode_; }

 private:
  std::string tensor_;
  int64_t step_;
  Mode mode_;
};

// Nothing was saved under the name, at any step.
class TensorUnavailable final : public Error {
 public:
  // `hint` is a sentence for people: what may have been meant.
  explicit TensorUnavailable(std::string_view tensor,
                             std::string_view hint = {});

  const std::string& tensor() const noexcept { return tensor_; }
  const std::string& hint() const noexcept { return hint_; }

 private:
  std::string tensor_;
  std::string hint_;
};

// The worker has nothing of what was asked for.
class InvalidWorker final : public Error {
 public:
  explicit InvalidWorker(std::string_view worker);

  const std::string& worker() const noexcept { return worker_; }

 private:
  std::string worker_;
};

// The job ended before the step. `last_step` is the last one of the mode; -1
// if it has none.
class NoMoreData final : public Error {
 public:
  NoMoreData(int64_t step, Mode mode, int64_t last_step);

  int64_t step() const noexcept { return step_; }
  Mode mode() const noexcept { return mode_; }
  int64_t last_step() const noexcept { return last_step_; }

 private:
  int64_t step_;
  Mode mode_;
  int64_t last_step_;
};

// The job ended, and collections files are missing: all of them, or of smdebug
// 1.0 one.
class MissingCollectionFiles final : public Error {
 public:
  explicit MissingCollectionFiles(std::string_view run);

  const std::string& run() const noexcept { return run_; }

 private:
  std::string run_;
};

// A rule lacks what it needs: a parameter, or tensors that the run does not
// save. smdebug.exceptions.InsufficientInformationForRuleInvocation in Python.
class InsufficientInformation final : public Error {
 public:
  InsufficientInformation(std::string_view rule, std::string_view message);

  const std::string& rule() const noexcept { return rule_; }
  const std::string& message() const noexcept { return message_; }

 private:
  std::string rule_;
  std::string message_;
};

}  // namespace smdebug
