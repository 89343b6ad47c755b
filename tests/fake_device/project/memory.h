// Memory of the fake device, which is the host's, and pinned memory.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <utility>

#include <ATen/core/Tensor.h>
#include <c10/core/Storage.h>

namespace fake_device {

inline constexpr c10::DeviceType kDevice = c10::DeviceType::PrivateUse1;

using StreamKey = std::pair<c10::DeviceIndex, c10::StreamId>;

// Memory that a device tensor, or a copy that is under way, holds. Streams
// guard what is not const.
struct Block {
  Block(c10::Storage host_storage, StreamKey stream);
  ~Block();
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;

  const c10::Storage host;  // The same bytes, for the CPU.
  const StreamKey home;     // Whose work was going on when it was allocated.

  // The last piece of work of each stream that has read it, and that has
  // written it: its number in that stream.
  std::map<StreamKey, int64_t> read;
  std::pair<StreamKey, int64_t> written;
  std::set<StreamKey> recorded;  // By Tensor.record_stream().
  int late_copies = 0;           // That have not read it yet.
};

// Device memory that holds `host`, which nobody else may use any longer.
c10::DataPtr TakeMemory(c10::Storage host, c10::Device device);

// New device memory.
c10::DataPtr NewMemory(size_t bytes, c10::Device device);

// The memory of a storage on the device; none if it has no bytes.
std::shared_ptr<Block> BlockOf(const c10::Storage& storage);

// Memory of the host that a copy can reach without the host's waiting.
struct PinnedBlock {
  explicit PinnedBlock(size_t size);
  ~PinnedBlock();
  PinnedBlock(const PinnedBlock&) = delete;
  PinnedBlock& operator=(const PinnedBlock&) = delete;

  const c10::DataPtr memory;
  const size_t bytes;
};

c10::DataPtr NewPinned(size_t bytes);

// The pinned memory that `data` points into, if any.
std::shared_ptr<PinnedBlock> PinnedAt(const void* data);

// A tensor for the CPU over `storage`, with the element type, shape and
// strides of `like`.
at::Tensor OnHost(const c10::Storage& storage, const at::Tensor& like);

// A storage for the CPU over memory that somebody else owns.
c10::Storage Borrow(void* data, size_t bytes);

}  // namespace fake_device
