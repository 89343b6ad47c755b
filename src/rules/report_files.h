#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "smdebug/invoker.h"
#include "smdebug/storage.h"

namespace smdebug::rules {

// The reports of a run: `rules/<name>.json`, each replaced as a whole.
//
// A report that cannot be written is worth a word in the log, and no more: a
// run that cannot be written to can still be judged. Borrows the store, which
// may be null: nothing is kept then. One thread at a time.
class ReportFiles {
 public:
  explicit ReportFiles(Storage* storage) : storage_(storage) {}

  // What was asked of a rule; the same question has the same text.
  struct Question {
    std::string rule;
    std::string steps;
    std::string worker;

    friend bool operator==(const Question&, const Question&) = default;
  };

  // Up to where an earlier invocation has judged and told about, if it asked
  // the same of the same job.
  struct Told {
    int64_t last_step = -1;
    bool ended = false;  // It came to the end of the run.
  };
  Told WhatWasTold(std::string_view name, const Question& question);

  void Save(const RuleReport& report, const Question& question);

  static std::string KeyOf(std::string_view name);

 private:
  const std::string& Job();

  Storage* const storage_;
  std::string job_;  // Empty until the run tells.
  bool failed_ = false;
};

}  // namespace smdebug::rules
