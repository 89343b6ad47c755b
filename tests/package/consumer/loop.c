/* The same run as trainer.cc's, from C. */
#include <stdio.h>

#include <smdebug/c_api.h>

int main(int argc, char** argv) {
  float weight[6] = {1, 2, 3, 4, 5, 6};
  const int64_t shape[2] = {2, 3};
  const smdebug_tensor tensor = {weight, SMDEBUG_FLOAT32, 2, shape, NULL};
  smdebug_hook* hook;
  int step;
  int i;
  if (argc != 2) return 2;
  hook = smdebug_open(argv[1],
                      "{\"HookParameters\": {\"save_interval\": \"10\", "
                      "\"save_all\": \"true\"}}");
  if (hook == NULL) {
    fprintf(stderr, "%s\n", smdebug_last_error());
    return 1;
  }
  for (step = 0; step < 100; ++step) {
    smdebug_begin_step(hook);
    for (i = 0; i < 6; ++i) weight[i] *= 0.5f;
    smdebug_save(hook, "fc.weight", &tensor);
    smdebug_save_scalar(hook, "loss", 1.0 / (step + 1));
  }
  return smdebug_close(hook) == 0 ? 0 : 1;
}
