// Saves a run, judges it meanwhile, and reads it back.
#include <cstdint>
#include <cstdio>
#include <exception>
#include <vector>

#include <smdebug/guard.h>
#include <smdebug/hook.h>
#include <smdebug/rule.h>
#include <smdebug/trial.h>

namespace {

int Train(const char* folder) {
  smdebug::HookConfig config;
  config.out_dir = folder;
  config.save_all = true;
  config.save_config = smdebug::SaveConfig::Every({.save_interval = 10});
  smdebug::Hook hook(config);
  const smdebug::RuleGuard guard(
      hook, {smdebug::ToEvaluation(smdebug::ParseRuleSpec("ExplodingTensor"))});
  std::vector<float> weight = {1, 2, 3, 4, 5, 6};
  const int64_t shape[] = {2, 3};
  for (int step = 0; step < 100; ++step) {
    hook.BeginStep();
    for (float& x : weight) x *= 0.5f;
    hook.Save("fc.weight", smdebug::ViewOf<float>(weight, shape));
    hook.SaveScalar("loss", 1.0 / (step + 1));
  }
  hook.Close();
  const auto trial = smdebug::Trial::Open(folder);
  const size_t steps = trial->tensor("fc.weight").Steps().size();
  std::printf("%zu steps, %d rules fired\n", steps,
              static_cast<int>(guard.fired_rules()));
  return steps == 10 && guard.fired_rules() == 0 ? 0 : 1;
}

}  // namespace

int main(int /*argc*/, char** argv) {
  try {
    return Train(argv[1]);
  } catch (const std::exception& error) {
    std::printf("%s\n", error.what());
    return 2;
  }
}
