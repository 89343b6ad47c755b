#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "smdebug/error.h"
#include "smdebug/finding.h"
#include "smdebug/storage.h"

namespace smdebug {

// A rule that has fired on a run.
struct Firing {
  std::string rule;
  std::string run = {};  // Path of the run; empty if there is none.
  // Where the run is; null: what `run` names is opened.
  std::shared_ptr<Storage> store = {};
  // The identity of the run, as Trial::run_id() has it; unset: that of the run
  // that is there.
  std::optional<std::string> run_id = {};
  std::optional<int64_t> step;  // Over all modes; unset if it is not known.
  std::string message = {};     // One sentence that a person understands.
  std::vector<Finding> findings = {};
  // How often the rule fired since the action was last done, and it was not
  // done because of the rate limit. ActionSet fills it in.
  int64_t suppressed = 0;
};

// An action could not be done. `action` is what the audit trail calls it.
class ActionError final : public Error {
 public:
  ActionError(std::string_view action, std::string_view reason);

  const std::string& action() const noexcept { return action_; }
  const std::string& reason() const noexcept { return reason_; }

 private:
  std::string action_;
  std::string reason_;
};

// Which action, and on what.
struct ActionSpec {
  std::string kind;  // "stop", "email", "sms", "webhook" or "exec".
  // stop: a process id, "-" and a process group, or empty for whoever writes
  // the run. email: an address. sms: a phone number. webhook: a URL. exec: a
  // command, or a JSON list of its words.
  std::string target = {};
  // stop without a target: only a job whose name begins so.
  std::string job_prefix = {};

  friend bool operator==(const ActionSpec&, const ActionSpec&) = default;
};

// "stop", "stop:<pid>", "stop:-<process group>", "email:<address>",
// "sms:+<number>", "webhook:<url>" or "exec:<command>". The kind is in any
// letter case. Throws ConfigError, naming what is allowed.
ActionSpec ParseAction(std::string_view text);

// The actions of a rule's `action_json`: an object or a list of them, also with
// a backslash before each quotation mark, as smdebug_rulesconfig writes it.
// Keys and names are in any letter case. Blank: none.
//
// As in smdebug 1.0, what is wrong is logged and left out. Never throws.
std::vector<ActionSpec> ParseActionJson(std::string_view json,
                                        std::string_view rule);

// How actions are done.
struct ActionOptions {
  // Only says what would be done.
  bool dry_run = false;
  // An action is done at most once per rule in this time; 0: each time.
  std::chrono::milliseconds interval = std::chrono::seconds(60);
  // From SIGTERM to SIGKILL.
  std::chrono::milliseconds grace = std::chrono::seconds(10);
  // For one message, and for a command.
  std::chrono::milliseconds timeout = std::chrono::seconds(10);
  std::chrono::milliseconds exec_timeout = std::chrono::seconds(60);
  // A message is sent again after a timeout or a 5xx answer, up to so many
  // times in all, first after `backoff`, then after twice that, and so on.
  int attempts = 3;
  std::chrono::milliseconds backoff = std::chrono::milliseconds(500);
  // What the rate limit goes by; unset: the steady clock.
  std::function<std::chrono::steady_clock::time_point()> now = {};

  // As SMDEBUG_ACTION_DRY_RUN, SMDEBUG_ACTION_INTERVAL, SMDEBUG_ACTION_TIMEOUT
  // and SMDEBUG_STOP_GRACE say. Throws ConfigError.
  static ActionOptions FromEnvironment();
};

// Something to do when a rule fires. Thread-safe.
class Action {
 public:
  virtual ~Action() = default;

  // As in ActionSpec, or a word of your own; it lives as long as the action.
  virtual std::string_view kind() const noexcept = 0;

  // Whom or what it is about, without secrets, for logs and the audit trail.
  virtual std::string target() const = 0;

  // Does it, and says what was done in a few words. Throws ActionError.
  virtual std::string Do(const Firing& firing) = 0;
};

// Throws ConfigError for a kind or target that is not allowed, for a message
// without a server (SMDEBUG_SMTP_URL, SMDEBUG_SMTP_FROM, SMDEBUG_SMS_URL) and
// for a command whose program is not there. An action that stops a process
// remembers which one it is, so that a later process with the same number is
// left alone. These variables are read here.
std::unique_ptr<Action> MakeAction(const ActionSpec& spec,
                                   const ActionOptions& options);

// What became of one action.
struct ActionOutcome {
  enum class Result : uint8_t { kDone, kFailed, kDryRun, kSuppressed };

  std::string kind;
  std::string target;
  Result result = Result::kDone;
  std::string detail = {};  // What was done, or why not.
  int64_t suppressed = 0;   // As in Firing.
};

// "done", "failed", "dry run" or "suppressed".
std::string_view ResultName(ActionOutcome::Result result) noexcept;

// How often each came out.
struct ActionCounts {
  int64_t done = 0;
  int64_t failed = 0;
  int64_t dry_runs = 0;
  int64_t suppressed = 0;
};

// The actions of a rule, or of several. Each firing of each is a line of the
// audit trail, `<run>/rules/actions.jsonl`, and where that is full the next one
// after it.
//
// Thread-safe; one firing at a time.
class ActionSet {
 public:
  explicit ActionSet(ActionOptions options);
  ~ActionSet();
  ActionSet(const ActionSet&) = delete;
  ActionSet& operator=(const ActionSet&) = delete;

  // Throws as MakeAction() does.
  void Add(const ActionSpec& spec);
  // Adds those of a rule's `action_json`. What is wrong is logged and left out,
  // as ParseActionJson() does it. Returns what was added.
  std::vector<ActionSpec> AddJson(std::string_view json, std::string_view rule);
  void Add(std::unique_ptr<Action> action);

  bool empty() const;

  // Does the actions, in order. One that fails does not hold up the others:
  // failures are logged. Throws nothing but std::bad_alloc.
  std::vector<ActionOutcome> Fire(const Firing& firing);

  ActionCounts counts() const;

  // Why the audit trail could not be written, the first time; empty if it was.
  std::string trail_failure() const;

 private:
  class Impl;
  const std::unique_ptr<Impl> impl_;
};

}  // namespace smdebug
