// crash_victim <out_dir>: saves ten steps of known values, each with a scalar,
// and closes. SMDEBUG_KILL_AT ends it on the way.
#include <string>
#include <vector>

#include "smdebug/hook.h"
#include "tests/testing/hook.h"

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  using smdebug::testing::SaveEverything;
  smdebug::Hook hook(SaveEverything(argv[1]));
  for (int step = 0; step < 10; ++step) {
    hook.BeginStep();
    for (int i = 0; i < 5; ++i) {
      smdebug::testing::SaveFloats(hook, "x" + std::to_string(i),
                                   std::vector<float>(5000, float(step)));
    }
    hook.SaveScalar("loss", step);
  }
  hook.Close();
  return 0;
}
