// What the fake device was asked to do, counted by kind and by who asked.
#pragma once

#include <cstdint>

namespace fake_device {

enum class Count {
  kHostToDevice,
  kHostToDeviceBytes,
  kDeviceToHost,  // The host waits for the copy.
  kDeviceToHostBytes,
  kLateDeviceToHost,  // It does not.
  kLateDeviceToHostBytes,
  kDeviceSynchronisations,
  kStreamSynchronisations,
  kEventSynchronisations,
  kEventQueries,
  kEventRecords,
  kStreamWaits,  // Of one stream for an event of another; the host goes on.
  kValues,       // item(), equal(), nonzero() ...: the host waits for a value.
  kAllocations,  // Of device memory.
  kPinnedAllocations,
  kRaces,  // Reads and writes of which nothing says which one comes first.
  kNumCounts,
};

enum class Alive {
  kAllocations,
  kBytes,
  kPinnedAllocations,
  kPinnedBytes,
  kLateCopies,  // Queued or under way.
  kNumAlive,
};

// Adds to a count, for the calling thread. Thread-safe, as all of this file.
void Add(Count what, int64_t number = 1);
void Add(Alive what, int64_t number);

// What was counted on the training thread, backward passes included, or on
// all others.
int64_t Counted(Count what, bool training);
int64_t AliveNow(Alive what);

// Sets every count to 0. The calling thread is the training thread from now
// on.
void ResetCounts();

const char* NameOf(Count what);
const char* NameOf(Alive what);

}  // namespace fake_device
