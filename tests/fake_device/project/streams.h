// The order of work on the fake device: streams, events, and copies that the
// host does not wait for.
#pragma once

#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include <c10/core/Stream.h>

#include "memory.h"

namespace fake_device {

inline constexpr c10::DeviceIndex kDevices = 2;

// How much of the work of each stream is known to be done.
using Seen = std::map<StreamKey, int64_t>;

// One record() of an event.
struct Recording {
  Seen seen;
  bool done = false;
};

// A copy to pinned memory that the host does not wait for.
struct LateCopy {
  std::shared_ptr<Block> source;
  std::shared_ptr<PinnedBlock> target;
  at::Tensor from, to;         // Both for the CPU, over borrowed memory.
  std::vector<char> snapshot;  // Of the source, once it has changed.
};

// Computations are done at once, by the host, whatever stream they are for.
// Late copies wait in their stream, with the recordings and waits behind them,
// until a thread of the device carries them out: as late as the device is
// held. A late copy reads its source when it is carried out, or when work that
// comes after it changes the source. So a program that does not keep the order
// gets wrong values, and each access that nothing puts in order counts as a
// race. Thread-safe.
class Streams {
 public:
  static Streams& Get();

  // The calling thread's stream on a device, and its device.
  static StreamKey Current(c10::DeviceIndex device);
  static c10::StreamId ExchangeStream(StreamKey stream);
  static c10::DeviceIndex CurrentDevice();
  static void SetDevice(c10::DeviceIndex device);

  StreamKey NewStream(c10::DeviceIndex device);

  // Work of `stream` uses `block`, from now on.
  void Read(Block& block, StreamKey stream);
  void Write(Block& block, StreamKey stream);
  void RecordStream(Block& block, StreamKey stream);

  // No tensor has `block` any longer: its home stream may use it again.
  void Free(Block& block);

  void Enqueue(LateCopy copy, StreamKey stream);
  std::shared_ptr<Recording> Record(StreamKey stream);
  void WaitIn(const std::shared_ptr<Recording>& recording, StreamKey stream);

  bool IsDone(const std::shared_ptr<Recording>& recording);
  bool IsIdle(StreamKey stream);
  void Await(const std::shared_ptr<Recording>& recording);
  void AwaitStream(StreamKey stream);
  void AwaitDevice(c10::DeviceIndex device);

  // While the device is held, no late copy is carried out.
  void Hold(bool held);

 private:
  struct Work {
    int64_t number = 0;
    std::unique_ptr<LateCopy> copy = nullptr;
    std::shared_ptr<Recording> recorded = nullptr;
    std::shared_ptr<Recording> awaited = nullptr;
  };

  struct Stream {
    int64_t clock = 0;  // The number of its last piece of work.
    Seen seen;
    std::deque<Work> queue;
    bool busy = false;  // With a copy that is no longer in the queue.

    [[nodiscard]] bool idle() const { return queue.empty() && !busy; }
  };

  Streams() = default;

  int64_t Advance(StreamKey stream);
  bool Knows(StreamKey stream, StreamKey other, int64_t number);
  bool MayOverwrite(const Block& block, StreamKey stream, bool freed);
  // Computations are done at once, and so before copies that they come after.
  void SaveForLateCopies(const Block& block, StreamKey stream);
  void Push(StreamKey stream, Work work);
  void HostHasSeen(const Seen& seen);
  Seen SeenBy(StreamKey stream);
  void CarryOut();
  Stream* NextReady();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<StreamKey, Stream> streams_;
  Seen host_;
  c10::StreamId last_stream_ = 0;
  bool held_ = false;
  bool started_ = false;
};

}  // namespace fake_device
