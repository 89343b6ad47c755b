#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "smdebug/error.h"
#include "smdebug/invoker.h"
#include "smdebug/storage.h"

namespace smdebug::rules {

// The reports of a run: `rules/<name>.json`, each replaced as a whole.
//
// A report that cannot be written is worth a word, and no more: a
// run that cannot be written to can still be judged. Nor is one written where
// the folder holds another run by now, or is gone: it is not made anew. The
// store may be null: nothing is kept then. One thread at a time.
class ReportFiles {
 public:
  // `run` is the identity of the run that is judged; those of smdebug 1.0 have
  // none. `on_failure` gets a line once if reports cannot be kept; unset: it
  // goes to the log.
  explicit ReportFiles(std::shared_ptr<Storage> storage, std::string run = {},
                       std::function<void(std::string_view)> on_failure = {})
      : storage_(std::move(storage)),
        run_(std::move(run)),
        on_failure_(std::move(on_failure)) {}

  // What was asked of a rule; the same question has the same text.
  struct Question {
    std::string rule;
    std::string steps;
    std::string worker;

    friend bool operator==(const Question&, const Question&) = default;
  };

  // Up to where an earlier invocation has judged and told about, if it asked
  // the same of the same run and told the same one (InvokeOptions::told_to).
  struct Told {
    int64_t last_step = -1;
    bool ended = false;  // It came to the end of the run.
  };
  Told WhatWasTold(std::string_view name, const Question& question,
                   std::string_view told_to);

  // `told_to` was told so far. What others were told, by the same question,
  // stays in the file.
  void Save(const RuleReport& report, const Question& question,
            std::string_view told_to, const Told& told);

  // Keeps a file of the rule's own: `rules/<name>/<file>`.
  void SaveFile(std::string_view name, const RuleFile& file);

  bool keeps() const noexcept { return storage_ != nullptr && !failed_; }

 private:
  using AllTold = std::map<std::string, Told, std::less<>>;

  // By whom they were told to, if the text of a report is about `question`.
  AllTold ParseTold(std::string_view text, const Question& question) const;
  bool TryToSave(const RuleReport& report, const Question& question,
                 std::string_view told_to, const Told& told);
  void Publish(const std::string& key, std::string_view text);
  void GiveUp(const Error& error);

  const std::shared_ptr<Storage> storage_;
  const std::string run_;
  const std::function<void(std::string_view)> on_failure_;
  bool failed_ = false;
};

}  // namespace smdebug::rules
