// crash_victim <out_dir> [key=value ...]: saves steps of known values (see
// victim.h) and closes, telling on the way how far it is. SMDEBUG_KILL_AT ends
// it on the way.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <map>
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

void Save(Hook& hook, float value) {
  hook.BeginStep();
  for (int i = 0; i < kVictimTensors; ++i) {
    SaveFloats(hook, "x" + std::to_string(i),
               std::vector<float>(kVictimElements, value));
  }
  hook.SaveScalar("loss", value);
  hook.EndStep();
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
    Hook hook(config, Worker::OfRank(rank, options["workers"]));
    Say("entered", hook.run_id());
    for (int64_t step = 0; step < steps; ++step) {
      Save(hook, VictimValue(options["tag"], rank, step));
      // Without it all steps are published at once, at the end.
      while (options["paced"] != 0 && hook.stats().steps_saved <= step) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
      Say("saved", std::to_string(hook.stats().steps_saved));
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
    return hook.stats().steps_saved == steps ? 0 : 1;
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
