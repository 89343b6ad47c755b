// What tests ask of the fake device, as C functions so that any language can.
#include "counts.h"
#include "streams.h"

using fake_device::Alive;
using fake_device::Count;

extern "C" {

// The names of all counts, in order; null after the last.
const char* fake_device_count_name(int count) {
  if (count >= static_cast<int>(Count::kNumCounts)) return nullptr;
  return NameOf(static_cast<Count>(count));
}

const char* fake_device_alive_name(int what) {
  if (what >= static_cast<int>(Alive::kNumAlive)) return nullptr;
  return NameOf(static_cast<Alive>(what));
}

int64_t fake_device_count(int count, int training) {
  return Counted(static_cast<Count>(count), training != 0);
}

int64_t fake_device_alive(int what) {
  return AliveNow(static_cast<Alive>(what));
}

// Sets the counts to 0; the calling thread is the one that trains.
void fake_device_reset() { fake_device::ResetCounts(); }

// While the device is held, it carries out no copy that nobody waits for.
void fake_device_hold(int held) { fake_device::Streams::Get().Hold(held != 0); }

}  // extern "C"
