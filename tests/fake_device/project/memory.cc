#include "memory.h"

#include <functional>
#include <mutex>

#include <c10/core/CPUAllocator.h>

#include "counts.h"
#include "streams.h"

namespace fake_device {
namespace {

using Holder = std::shared_ptr<Block>;

void Release(void* context) {
  std::unique_ptr<Holder> holder(static_cast<Holder*>(context));
  Streams::Get().Free(**holder);
}

// Pinned memory by its first byte. Never destroyed: threads may outlive main().
struct Pinned {
  std::mutex mutex;
  std::map<const char*, std::shared_ptr<PinnedBlock>, std::greater<>> blocks;
};

Pinned& AllPinned() {
  static auto& pinned = *new Pinned;
  return pinned;
}

void Unpin(void* data) {
  Pinned& pinned = AllPinned();
  std::shared_ptr<PinnedBlock> block;  // Goes when the mutex is free.
  const std::lock_guard lock(pinned.mutex);
  const auto found = pinned.blocks.find(static_cast<const char*>(data));
  block = std::move(found->second);
  pinned.blocks.erase(found);
}

}  // namespace

Block::Block(c10::Storage host_storage, StreamKey stream)
    : host(std::move(host_storage)), home(stream), written(stream, 0) {
  Add(Count::kAllocations);
  Add(Alive::kAllocations, 1);
  Add(Alive::kBytes, static_cast<int64_t>(host.nbytes()));
}

Block::~Block() {
  Add(Alive::kAllocations, -1);
  Add(Alive::kBytes, -static_cast<int64_t>(host.nbytes()));
}

c10::DataPtr TakeMemory(c10::Storage host, c10::Device device) {
  void* const data = host.mutable_data();
  if (data == nullptr) return {nullptr, device};
  const StreamKey stream = Streams::Current(device.index());
  auto holder = std::make_unique<Holder>(
      std::make_shared<Block>(std::move(host), stream));
  return {data, holder.release(), &Release, device};
}

c10::DataPtr NewMemory(size_t bytes, c10::Device device) {
  if (bytes == 0) return {nullptr, device};
  return TakeMemory(c10::Storage(c10::Storage::use_byte_size_t(), bytes,
                                 c10::GetCPUAllocator()->allocate(bytes)),
                    device);
}

std::shared_ptr<Block> BlockOf(const c10::Storage& storage) {
  auto* const holder = storage.data_ptr().cast_context<Holder>(&Release);
  return holder == nullptr ? nullptr : *holder;
}

PinnedBlock::PinnedBlock(size_t size)
    : memory(c10::GetCPUAllocator()->allocate(size)), bytes(size) {
  Add(Count::kPinnedAllocations);
  Add(Alive::kPinnedAllocations, 1);
  Add(Alive::kPinnedBytes, static_cast<int64_t>(bytes));
}

PinnedBlock::~PinnedBlock() {
  Add(Alive::kPinnedAllocations, -1);
  Add(Alive::kPinnedBytes, -static_cast<int64_t>(bytes));
}

c10::DataPtr NewPinned(size_t bytes) {
  const c10::Device host(c10::DeviceType::CPU);
  if (bytes == 0) return {nullptr, host};
  auto block = std::make_shared<PinnedBlock>(bytes);
  void* const data = block->memory.get();
  Pinned& pinned = AllPinned();
  const std::lock_guard lock(pinned.mutex);
  pinned.blocks[static_cast<const char*>(data)] = std::move(block);
  return {data, data, &Unpin, host};
}

std::shared_ptr<PinnedBlock> PinnedAt(const void* data) {
  Pinned& pinned = AllPinned();
  const std::lock_guard lock(pinned.mutex);
  const auto* const byte = static_cast<const char*>(data);
  const auto found = pinned.blocks.lower_bound(byte);  // At or below it.
  if (found == pinned.blocks.end()) return nullptr;
  return byte < found->first + found->second->bytes ? found->second : nullptr;
}

at::Tensor OnHost(const c10::Storage& storage, const at::Tensor& like) {
  auto tensor = at::detail::make_tensor<c10::TensorImpl>(
      c10::Storage(storage), c10::DispatchKeySet(c10::DispatchKey::CPU),
      like.dtype());
  c10::TensorImpl* const impl = tensor.unsafeGetTensorImpl();
  impl->set_sizes_and_strides(like.sizes(), like.strides(),
                              like.storage_offset());
  if (like.unsafeGetTensorImpl()->is_wrapped_number()) {
    impl->set_wrapped_number(true);
  }
  if (like.is_conj()) impl->_set_conj(true);
  if (like.is_neg()) impl->_set_neg(true);
  return tensor;
}

c10::Storage Borrow(void* data, size_t bytes) {
  // It may grow into memory of its own.
  return {c10::Storage::use_byte_size_t(), bytes,
          c10::DataPtr(data, c10::Device(c10::DeviceType::CPU)),
          c10::GetCPUAllocator(), /*resizable=*/true};
}

}  // namespace fake_device
