#include "smdebug/error.h"

#include <cerrno>
#include <system_error>

#include <fmt/format.h>

namespace smdebug {

ConfigError::ConfigError(std::string_view key, std::string_view value,
                         std::string_view allowed)
    : Error(fmt::format("{}: '{}' is not allowed; expected {}", key, value,
                        allowed)),
      key_(key),
      value_(value),
      allowed_(allowed) {}

InvalidCollectionConfiguration::InvalidCollectionConfiguration(
    std::string_view collection)
    : Error(fmt::format("collection '{}' has neither include_regex nor "
                        "tensor_names, so no tensor could ever be in it",
                        collection)),
      collection_(collection) {}

ConfigFileError::ConfigFileError(std::string_view path, int64_t line,
                                 int64_t column, std::string_view reason)
    : Error(line > 0 ? fmt::format("{}:{}:{}: {}", path, line, column, reason)
                     : fmt::format("{}: {}", path, reason)),
      path_(path),
      line_(line),
      column_(column) {}

RunExistsError::RunExistsError(std::string_view out_dir)
    : Error(fmt::format("{}: already holds a finished run (it has "
                        "training_job_end.ts); choose another out_dir or "
                        "remove that run",
                        out_dir)),
      out_dir_(out_dir) {}

IoError::IoError(std::string_view operation, std::string_view path, int code)
    : Error(fmt::format("{} {}: {}", operation, path,
                        std::generic_category().message(code))),
      path_(path),
      code_(code) {}

FormatError::FormatError(std::string_view file, std::string_view reason)
    : Error(fmt::format("{}: {}", file, reason)), file_(file) {}

UnsupportedTensor::UnsupportedTensor(std::string_view tensor,
                                     std::string_view reason)
    : Error(fmt::format("tensor '{}': {}", tensor, reason)), tensor_(tensor) {}

}  // namespace smdebug
