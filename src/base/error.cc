#include "smdebug/error.h"

#include <cerrno>
#include <system_error>

#include <fmt/format.h>

namespace smdebug {
namespace {

IoKind KindOf(int code) {
  switch (code) {
    case ENOENT:
    case ENOTDIR:
      return IoKind::kMissing;
    case EACCES:
    case EPERM:
    case EROFS:
    case ELOOP:
      return IoKind::kDenied;
    case ENOSPC:
    case EDQUOT:
      return IoKind::kNoSpace;
    case EAGAIN:
    case EBUSY:
    case EINTR:
    case EMFILE:
    case ENFILE:
    case ENOBUFS:
    case ENOMEM:
    case ESTALE:
    case ETIMEDOUT:
    case ECONNABORTED:
    case ECONNREFUSED:
    case ECONNRESET:
    case EHOSTUNREACH:
    case ENETDOWN:
    case ENETUNREACH:
      return IoKind::kTransient;
    default:
      return IoKind::kOther;
  }
}

int CodeOf(IoKind kind) {
  switch (kind) {
    case IoKind::kMissing:
      return ENOENT;
    case IoKind::kDenied:
      return EACCES;
    case IoKind::kNoSpace:
      return ENOSPC;
    case IoKind::kTransient:
      return EAGAIN;
    case IoKind::kOther:
      break;
  }
  return EIO;
}

}  // namespace

ConfigError::ConfigError(std::string_view key, std::string_view value,
                         std::string_view allowed)
    : Error(fmt::format("{}: '{}' is not allowed; expected {}", key, value,
                        allowed)),
      key_(key),
      value_(value),
      allowed_(allowed) {}

ConfigError::ConfigError(WithMessage, const std::string& message,
                         std::string_view key, std::string_view allowed)
    : Error(message), key_(key), allowed_(allowed) {}

ConfigError ConfigError::NotSet(std::string_view key,
                                std::string_view allowed) {
  return {WithMessage{},
          fmt::format("{} is not set; expected {}", key, allowed), key,
          allowed};
}

InvalidCollectionConfiguration::InvalidCollectionConfiguration(
    std::string_view collection, std::string_view hint)
    : Error(fmt::format("collection '{}' has neither include_regex nor "
                        "tensor_names, so no tensor could ever be in it{}{}",
                        collection, hint.empty() ? "" : "; ", hint)),
      collection_(collection),
      hint_(hint) {}

ConfigFileError::ConfigFileError(std::string_view path, int64_t line,
                                 int64_t column, std::string_view reason)
    : Error(line > 0 ? fmt::format("{}:{}:{}: {}", path, line, column, reason)
                     : fmt::format("{}: {}", path, reason)),
      path_(path),
      line_(line),
      column_(column) {}

RunExistsError::RunExistsError(std::string_view out_dir)
    : Error(fmt::format("{}: already exists and holds a finished run (it "
                        "has training_job_end.ts); choose another out_dir or "
                        "remove that run",
                        out_dir)),
      out_dir_(out_dir) {}

RunBusyError::RunBusyError(std::string_view out_dir, std::string_view host,
                           int64_t pid, std::string_view worker)
    : Error(fmt::format(
          "{} is being written by process {} on {} (as {}). Give each job a "
          "folder of its own, or each process of a job its own worker name and "
          "the number of workers.",
          out_dir, pid, host, worker)),
      out_dir_(out_dir),
      host_(host),
      pid_(pid) {}

RunReplacedError::RunReplacedError(std::string_view run,
                                   std::string_view opened,
                                   std::string_view found)
    : Error(found.empty()
                ? fmt::format("{} no longer holds the run {}", run, opened)
                : fmt::format("{} holds another run now ({}, no longer {}); "
                              "open it again",
                              run, found, opened)),
      opened_(opened),
      found_(found) {}

IoError::IoError(std::string_view operation, std::string_view path, int code)
    : Error(fmt::format("{} {}: {}", operation, path,
                        std::generic_category().message(code))),
      path_(path),
      kind_(KindOf(code)),
      code_(code) {}

IoError::IoError(std::string_view operation, std::string_view path, IoKind kind,
                 std::string_view reason)
    : Error(fmt::format("{} {}: {}", operation, path, reason)),
      path_(path),
      kind_(kind),
      code_(CodeOf(kind)) {}

std::string_view DamageKindName(DamageKind kind) noexcept {
  switch (kind) {
    case DamageKind::kBadContent:
      break;
    case DamageKind::kMissingContent:
      return "missing_content";
    case DamageKind::kShortContent:
      return "short_content";
    case DamageKind::kChecksum:
      return "checksum";
    case DamageKind::kBadIndex:
      return "bad_index";
    case DamageKind::kBadName:
      return "bad_name";
    case DamageKind::kBadCollections:
      return "bad_collections";
    case DamageKind::kBadLedger:
      return "bad_ledger";
    case DamageKind::kBadMarker:
      return "bad_marker";
    case DamageKind::kMissingSteps:
      return "missing_steps";
  }
  return "bad_content";
}

FormatError::FormatError(std::string_view file, std::string_view reason,
                         DamageKind kind)
    : Error(fmt::format("{}: {}", file, reason)), file_(file), kind_(kind) {}

UnsupportedTensor::UnsupportedTensor(std::string_view tensor,
                                     std::string_view reason)
    : Error(fmt::format("tensor '{}': {}", tensor, reason)), tensor_(tensor) {}

StepNotYetAvailable::StepNotYetAvailable(int64_t step, Mode mode)
    : Error(fmt::format("Step {} of mode {} not yet available", step,
                        ModeName(mode))),
      step_(step),
      mode_(mode) {}

StepUnavailable::StepUnavailable(int64_t step, Mode mode)
    : Error(
          fmt::format("Step {} of mode {} is not available as it was not saved",
                      step, ModeName(mode))),
      step_(step),
      mode_(mode) {}

TensorUnavailableForStep::TensorUnavailableForStep(std::string_view tensor,
                                                   int64_t step, Mode mode,
                                                   bool has_reductions,
                                                   std::string_view hint,
                                                   std::string_view missing)
    : Error(fmt::format(
          "Value for tensor {} is not available for step {} with mode {} as {}."
          "{}{}{}",
          tensor, step, ModeName(mode),
          missing.empty()
              ? "it was not saved"
              : fmt::format("{} is missing, but the index names it", missing),
          has_reductions ? " This tensor has reductions saved for this step. "
                           "You might want to query for the reductions."
                         : "",
          hint.empty() ? "" : " ", hint)),
      tensor_(tensor),
      step_(step),
      mode_(mode),
      has_reductions_(has_reductions),
      hint_(hint),
      missing_file_(missing) {}

ShapeUnavailableForStep::ShapeUnavailableForStep(std::string_view tensor,
                                                 int64_t step, Mode mode)
    : Error(fmt::format("Shape for tensor {} is not available for step {} with "
                        "mode {} as it was not saved",
                        tensor, step, ModeName(mode))),
      tensor_(tensor),
      step_(step),
      mode_(mode) {}

TensorUnavailable::TensorUnavailable(std::string_view tensor,
                                     std::string_view hint)
    : Error(fmt::format("Tensor {} was not saved.{}{}", tensor,
                        hint.empty() ? "" : " ", hint)),
      tensor_(tensor),
      hint_(hint) {}

InvalidWorker::InvalidWorker(std::string_view worker)
    : Error(fmt::format("Invalid Worker: {}", worker)), worker_(worker) {}

NoMoreData::NoMoreData(int64_t step, Mode mode, int64_t last_step)
    : Error(fmt::format("Looking for step {} of mode {} and reached the end of "
                        "training. The last step available is {}",
                        step, ModeName(mode), last_step)),
      step_(step),
      mode_(mode),
      last_step_(last_step) {}

MissingCollectionFiles::MissingCollectionFiles(std::string_view run)
    : Error(fmt::format("{}: the training job has ended, and not all of its "
                        "collections files are there",
                        run)),
      run_(run) {}

InsufficientInformation::InsufficientInformation(std::string_view rule,
                                                 std::string_view message)
    : Error(fmt::format("{} cannot be evaluated: {}", rule, message)),
      rule_(rule),
      message_(message) {}

}  // namespace smdebug
