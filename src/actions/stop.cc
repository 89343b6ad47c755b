#include <unistd.h>

#include <algorithm>
#include <limits>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "src/actions/action_type.h"
#include "src/actions/writers.h"
#include "src/base/process.h"
#include "src/base/text.h"

namespace smdebug::actions {
namespace {

using Milliseconds = std::chrono::milliseconds;

constexpr std::string_view kStop = "stop";

std::string Describe(const base::Ended& ended) {
  if (ended.asked + ended.killed == 0) return "it had already ended";
  if (ended.killed == 0) {
    return fmt::format("{} ended after SIGTERM", ended.asked);
  }
  if (ended.asked == 0) {
    return fmt::format("{} ended after SIGKILL", ended.killed);
  }
  return fmt::format("{} ended after SIGTERM, {} after SIGKILL", ended.asked,
                     ended.killed);
}

// What all ways of stopping share.
class Stop : public Action {
 public:
  explicit Stop(Milliseconds grace) : grace_(grace) {}

  std::string_view kind() const noexcept final { return kStop; }

 protected:
  template <typename List>
  std::string End(List list) const {
    try {
      return Describe(base::EndProcesses(list, grace_));
    } catch (const std::system_error& error) {
      throw ActionError(kStop, error.what());
    }
  }

 private:
  const Milliseconds grace_;
};

class StopProcess final : public Stop {
 public:
  StopProcess(const base::ProcessId& id, Milliseconds grace)
      : Stop(grace), id_(id) {}

  std::string target() const override {
    return fmt::format("process {}", id_.pid);
  }

  std::string Do(const Firing& /*firing*/) override {
    return End([this] { return std::vector{id_}; });
  }

 private:
  const base::ProcessId id_;
};

class StopGroup final : public Stop {
 public:
  StopGroup(pid_t group, std::vector<base::ProcessId> members,
            Milliseconds grace)
      : Stop(grace), group_(group), known_(std::move(members)) {}

  std::string target() const override {
    return fmt::format("process group {}", group_);
  }

  std::string Do(const Firing& /*firing*/) override {
    // A group keeps its number while any of it lives.
    std::vector<base::ProcessId> known = known_;
    return End([&] {
      std::vector<base::ProcessId> members = base::GroupMembers(group_);
      const bool is_same = std::ranges::any_of(members, [&](const auto& one) {
        return std::ranges::find(known, one) != known.end();
      });
      if (!is_same) members.clear();
      known.insert(known.end(), members.begin(), members.end());
      return members;
    });
  }

 private:
  const pid_t group_;
  const std::vector<base::ProcessId> known_;
};

// Stops whoever writes the run that a rule fired on.
class StopWriters final : public Stop {
 public:
  StopWriters(std::string prefix, Milliseconds grace)
      : Stop(grace), prefix_(std::move(prefix)) {}

  std::string target() const override {
    return prefix_.empty() ? "the job of the run"
                           : fmt::format("the job {}*", prefix_);
  }

  std::string Do(const Firing& firing) override {
    if (firing.store == nullptr || !firing.run_id) {
      throw ActionError(kStop, "it is not known which run it is about");
    }
    const Writers writers = Find(*firing.store, *firing.run_id);
    if (std::ranges::any_of(writers.processes,
                            [](const base::ProcessId& process) {
                              return process.pid == getpid();
                            })) {
      throw ActionError(kStop, "the job is the process that watches it");
    }
    return End([&] { return writers.processes; });
  }

 private:
  Writers Find(const Storage& run, const std::string& id) const {
    Writers writers;
    try {
      writers = FindWriters(run, id);
    } catch (const RunReplacedError&) {
      throw ActionError(kStop,
                        fmt::format("{} holds another run than the one that "
                                    "the rule fired on; nothing was stopped",
                                    run.root()));
    } catch (const std::exception& error) {
      throw ActionError(kStop, error.what());
    }
    if (writers.processes.empty()) {
      throw ActionError(
          kStop,
          "no living process of this machine shows that it writes the run; "
          "nothing was stopped (stop:<pid> stops any process)");
    }
    if (writers.jobs.size() > 1) {
      throw ActionError(
          kStop, fmt::format("several jobs write the run ({}); nothing was "
                             "stopped",
                             fmt::join(writers.jobs, ", ")));
    }
    if (!IsNamed(writers, run.root(), prefix_)) {
      throw ActionError(
          kStop, fmt::format("neither the job nor a folder of {} has a name "
                             "that begins with {}; nothing was stopped",
                             run.root(), prefix_));
    }
    return writers;
  }

  const std::string prefix_;
};

[[noreturn]] void Refuse(const std::string& target, std::string_view allowed) {
  throw ConfigError("action stop", target, allowed);
}

// Nothing, or the number of a process, or of a group with - before it.
bool IsStopTarget(std::string_view target) {
  if (target.empty()) return true;
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  const auto number = base::ParseInt(target);
  return number && *number >= -kMost && *number <= kMost &&
         (*number > 1 || *number < -1);
}

// Throws ConfigError if the process or the group is not there, or is the one
// that this is called in.
std::unique_ptr<Action> MakeStop(const ActionSpec& spec,
                                 const ActionOptions& options) {
  const Milliseconds grace = options.grace;
  if (spec.target.empty()) {
    return std::make_unique<StopWriters>(spec.job_prefix, grace);
  }
  const auto number = static_cast<pid_t>(base::ParseInt(spec.target).value());
  if (number < 0) {
    const pid_t group = -number;
    if (group == getpgrp()) {
      Refuse(spec.target, "a process group other than that of this process");
    }
    std::vector<base::ProcessId> members = base::GroupMembers(group);
    if (members.empty()) {
      Refuse(spec.target, "a process group with a living process");
    }
    return std::make_unique<StopGroup>(group, std::move(members), grace);
  }
  if (number == getpid()) Refuse(spec.target, "a process other than this one");
  const auto process = base::FindProcess(number);
  if (!process) Refuse(spec.target, "the id of a living process");
  return std::make_unique<StopProcess>(*process, grace);
}

}  // namespace

ActionType StopType() {
  return {.name = kStop,
          .json_name = "stoptraining",
          .forms = "stop, stop:PID, stop:-GROUP",
          .target_keys = {"pid"},
          .prefix_key = "training_job_prefix",
          .needs_target = false,
          .is_allowed = IsStopTarget,
          .allowed = "a process id above 1, or - and a process group above 1",
          .make = MakeStop};
}

}  // namespace smdebug::actions
