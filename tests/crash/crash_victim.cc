// crash_victim <out_dir> [key=value ...]: saves steps of known values (see
// victim.h) and closes, telling on the way how far it is. SMDEBUG_KILL_AT ends
// it on the way.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "smdebug/error.h"
#include "smdebug/hook.h"
#include "src/run/survey.h"
#include "tests/crash/victim.h"
#include "tests/testing/hook.h"

namespace smdebug::testing {
namespace {

void Say(const std::string& word, const std::string& what = "") {
  std::printf("%s %s\n", word.c_str(), what.c_str());
  std::fflush(stdout);
}

// One step of each worker of the hook, the first of which has `rank`.
void Save(Hook& hook, int64_t tag, int64_t rank, int64_t step) {
  hook.BeginStep();
  const int64_t shape[] = {kVictimElements};
  for (size_t worker = 0; worker < hook.workers().size(); ++worker) {
    const float value =
        VictimValue(tag, rank + static_cast<int64_t>(worker), step);
    const std::vector<float> values(kVictimElements, value);
    for (int i = 0; i < kVictimTensors; ++i) {
      hook.Save("x" + std::to_string(i), ViewOf<float>(values, shape),
                {.worker = worker});
    }
    hook.SaveScalar("loss", value, {.worker = worker});
  }
  hook.EndStep();
}

std::unique_ptr<Hook> Open(const HookConfig& config, int64_t rank,
                           int64_t workers, bool is_all) {
  if (!is_all) {
    return std::make_unique<Hook>(config, Worker::OfRank(rank, workers));
  }
  std::vector<Worker> all;
  for (int64_t i = 0; i < workers; ++i) {
    all.push_back(Worker::OfRank(i, workers));
  }
  return Hook::OfWorkers(config, all);
}

bool HasClosed(const Hook& hook, int64_t rank) {
  return std::ranges::any_of(
      run::LookAt(*hook.storage()).ledgers, [&](const run::Ledger& ledger) {
        return ledger.worker == Worker::OfRank(rank, rank + 1).name &&
               ledger.closed;
      });
}

int Run(const std::string& out_dir, std::map<std::string, int64_t> options) {
  const int64_t rank = options["rank"];
  const int64_t steps = options["steps"];
  HookConfig config = SaveEverything(out_dir);
  config.include_workers = IncludeWorkers::kAll;
  try {
    const auto opened =
        Open(config, rank, options["workers"], options["is_all"] != 0);
    Hook& hook = *opened;
    const auto writers = static_cast<int64_t>(hook.workers().size());
    Say("entered", hook.run_id());
    for (int64_t step = 0; step < steps; ++step) {
      Save(hook, options["tag"], rank, step);
      // Without it all steps are published at once, at the end.
      while (options["paced"] != 0 &&
             hook.stats().steps_saved < writers * (step + 1)) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
      Say("saved", std::to_string(hook.stats().steps_saved / writers));
    }
    if (const auto other = options.find("outlives"); other != options.end()) {
      while (!HasClosed(hook, other->second)) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
    }
    if (options["fails"] != 0) {
      hook.Close(Ending::kFailed, "on purpose");
    } else {
      hook.Close();
    }
    Say("closed");
    return hook.stats().steps_saved == writers * steps ? 0 : 1;
  } catch (const Error& error) {
    Say("refused", error.what());
    return 3;
  }
}

}  // namespace
}  // namespace smdebug::testing

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  std::map<std::string, int64_t> options = {{"steps", 10}, {"workers", 1}};
  for (int i = 2; i < argc; ++i) {
    const std::string option = argv[i];
    const size_t equals = option.find('=');
    if (equals == std::string::npos) return 2;
    options[option.substr(0, equals)] = std::stoll(option.substr(equals + 1));
  }
  return smdebug::testing::Run(argv[1], std::move(options));
}
