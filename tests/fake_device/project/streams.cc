#include "streams.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <thread>

#include "counts.h"

namespace fake_device {
namespace {

// What nobody may rely on: not a number, as floats.
constexpr int kGarbage = 0xFF;

thread_local c10::DeviceIndex current_device = 0;
thread_local std::array<c10::StreamId, kDevices> current_streams = {};

void Merge(const Seen& from, Seen& into) {
  for (const auto& [stream, number] : from) {
    int64_t& known = into[stream];
    known = std::max(known, number);
  }
}

void TakeSnapshot(LateCopy& copy) {
  if (!copy.snapshot.empty()) return;
  const auto* const bytes = static_cast<const char*>(copy.source->host.data());
  copy.snapshot.assign(bytes, bytes + copy.source->host.nbytes());
  copy.from =
      OnHost(Borrow(copy.snapshot.data(), copy.snapshot.size()), copy.from);
  --copy.source->late_copies;
}

}  // namespace

Streams& Streams::Get() {
  static auto& streams = *new Streams;  // Threads may outlive main().
  return streams;
}

StreamKey Streams::Current(c10::DeviceIndex device) {
  return {device, current_streams.at(static_cast<size_t>(device))};
}

c10::StreamId Streams::ExchangeStream(StreamKey stream) {
  return std::exchange(current_streams.at(static_cast<size_t>(stream.first)),
                       stream.second);
}

c10::DeviceIndex Streams::CurrentDevice() { return current_device; }

void Streams::SetDevice(c10::DeviceIndex device) {
  TORCH_CHECK(device >= 0 && device < kDevices, "there are ",
              static_cast<int>(kDevices), " devices; number ",
              static_cast<int>(device), " was asked for");
  current_device = device;
}

StreamKey Streams::NewStream(c10::DeviceIndex device) {
  const std::lock_guard lock(mutex_);
  return {device, ++last_stream_};
}

int64_t Streams::Advance(StreamKey stream) { return ++streams_[stream].clock; }

bool Streams::Knows(StreamKey stream, StreamKey other, int64_t number) {
  return stream == other || host_[other] >= number ||
         streams_[stream].seen[other] >= number;
}

bool Streams::MayOverwrite(const Block& block, StreamKey stream, bool freed) {
  const auto known = [&](const std::pair<StreamKey, int64_t>& access) {
    return (freed && block.recorded.contains(access.first)) ||
           Knows(stream, access.first, access.second);
  };
  return known(block.written) &&
         std::all_of(block.read.begin(), block.read.end(), known);
}

void Streams::Read(Block& block, StreamKey stream) {
  const std::lock_guard lock(mutex_);
  if (!Knows(stream, block.written.first, block.written.second)) {
    Add(Count::kRaces);
  }
  block.read[stream] = Advance(stream);
}

void Streams::Write(Block& block, StreamKey stream) {
  const std::lock_guard lock(mutex_);
  if (!MayOverwrite(block, stream, /*freed=*/false)) Add(Count::kRaces);
  if (block.late_copies > 0) SaveForLateCopies(block, stream);
  block.read.clear();
  block.written = {stream, Advance(stream)};
}

void Streams::SaveForLateCopies(const Block& block, StreamKey stream) {
  for (auto& [other, queued] : streams_) {
    for (Work& work : queued.queue) {
      if (work.copy != nullptr && work.copy->source.get() == &block &&
          Knows(stream, other, work.number)) {
        TakeSnapshot(*work.copy);
      }
    }
  }
}

void Streams::RecordStream(Block& block, StreamKey stream) {
  const std::lock_guard lock(mutex_);
  block.recorded.insert(stream);
}

void Streams::Free(Block& block) {
  const std::lock_guard lock(mutex_);
  if (MayOverwrite(block, block.home, /*freed=*/true)) return;
  Add(Count::kRaces);
  if (block.late_copies > 0) {  // They get what others have written meanwhile.
    std::memset(block.host.mutable_data(), kGarbage, block.host.nbytes());
  }
}

void Streams::Enqueue(LateCopy copy, StreamKey stream) {
  Add(Alive::kLateCopies, 1);
  if (copy.to.is_contiguous()) {
    std::memset(copy.to.mutable_data_ptr(), kGarbage, copy.to.nbytes());
  }
  Read(*copy.source, stream);
  const std::lock_guard lock(mutex_);
  ++copy.source->late_copies;
  Push(stream, {.copy = std::make_unique<LateCopy>(std::move(copy))});
}

std::shared_ptr<Recording> Streams::Record(StreamKey stream) {
  const std::lock_guard lock(mutex_);
  auto recording = std::make_shared<Recording>();
  recording->seen = SeenBy(stream);
  recording->done = streams_[stream].idle();
  if (!recording->done) Push(stream, {.recorded = recording});
  return recording;
}

void Streams::WaitIn(const std::shared_ptr<Recording>& recording,
                     StreamKey stream) {
  const std::lock_guard lock(mutex_);
  Merge(recording->seen, streams_[stream].seen);
  if (recording->done) return;
  Push(stream, {.awaited = recording});
}

bool Streams::IsDone(const std::shared_ptr<Recording>& recording) {
  const std::lock_guard lock(mutex_);
  if (recording->done) HostHasSeen(recording->seen);
  return recording->done;
}

bool Streams::IsIdle(StreamKey stream) {
  const std::lock_guard lock(mutex_);
  const bool idle = streams_[stream].idle();
  if (idle) HostHasSeen(SeenBy(stream));
  return idle;
}

void Streams::Await(const std::shared_ptr<Recording>& recording) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return recording->done; });
  HostHasSeen(recording->seen);
}

void Streams::AwaitStream(StreamKey stream) {
  std::unique_lock lock(mutex_);
  const Seen seen = SeenBy(stream);
  changed_.wait(lock, [&] { return streams_[stream].idle(); });
  HostHasSeen(seen);
}

void Streams::AwaitDevice(c10::DeviceIndex device) {
  std::vector<StreamKey> streams;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [key, stream] : streams_) {
      if (key.first == device) streams.push_back(key);
    }
  }
  for (const StreamKey& stream : streams) AwaitStream(stream);
}

void Streams::Hold(bool held) {
  const std::lock_guard lock(mutex_);
  held_ = held;
  changed_.notify_all();
}

Seen Streams::SeenBy(StreamKey stream) {
  Seen seen = streams_[stream].seen;
  seen[stream] = streams_[stream].clock;
  return seen;
}

void Streams::HostHasSeen(const Seen& seen) { Merge(seen, host_); }

void Streams::Push(StreamKey stream, Work work) {
  work.number = streams_[stream].clock;
  streams_[stream].queue.push_back(std::move(work));
  if (!std::exchange(started_, true)) {
    std::thread([this] { CarryOut(); }).detach();
  }
  changed_.notify_all();
}

Streams::Stream* Streams::NextReady() {
  for (auto& [key, stream] : streams_) {
    if (stream.queue.empty() || stream.busy) continue;
    const Work& work = stream.queue.front();
    const bool waits = (work.copy != nullptr && held_) ||
                       (work.awaited != nullptr && !work.awaited->done);
    if (!waits) return &stream;
  }
  return nullptr;
}

void Streams::CarryOut() {
  std::unique_lock lock(mutex_);
  while (true) {
    Stream* stream = nullptr;
    changed_.wait(lock, [&] { return (stream = NextReady()) != nullptr; });
    Work work = std::move(stream->queue.front());
    stream->queue.pop_front();
    if (work.recorded != nullptr) work.recorded->done = true;
    if (work.copy != nullptr) {
      if (work.copy->snapshot.empty()) --work.copy->source->late_copies;
      stream->busy = true;
      lock.unlock();
      work.copy->to.copy_(work.copy->from);
      work.copy.reset();
      Add(Alive::kLateCopies, -1);
      lock.lock();
      stream->busy = false;
    }
    changed_.notify_all();
  }
}

}  // namespace fake_device
