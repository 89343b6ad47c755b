// Tells PyTorch about the fake device: memory, streams, events.
#include <cstring>

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/core/CachingHostAllocator.h>
#include <ATen/detail/PrivateUse1HooksInterface.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>

#include "counts.h"
#include "memory.h"
#include "streams.h"

namespace fake_device {
namespace {

StreamKey KeyOf(const c10::Stream& stream) {
  return {stream.device_index(), stream.id()};
}

c10::Stream StreamOf(StreamKey key) {
  return c10::Stream(c10::Stream::UNSAFE, {kDevice, key.first}, key.second);
}

c10::DeviceIndex IndexOf(const c10::Device& device) {
  return device.has_index() ? device.index() : Streams::CurrentDevice();
}

class Guard final : public c10::impl::DeviceGuardImplInterface {
 public:
  c10::DeviceType type() const override { return kDevice; }

  c10::Device exchangeDevice(c10::Device device) const override {
    const c10::Device before = getDevice();
    if (device.has_index()) setDevice(device);
    return before;
  }
  c10::Device getDevice() const override {
    return {kDevice, Streams::CurrentDevice()};
  }
  void setDevice(c10::Device device) const override {
    Streams::SetDevice(IndexOf(device));
  }
  void uncheckedSetDevice(c10::Device device) const noexcept override {
    setDevice(device);
  }
  c10::DeviceIndex deviceCount() const noexcept override { return kDevices; }

  c10::Stream getStream(c10::Device device) const override {
    return StreamOf(Streams::Current(IndexOf(device)));
  }
  c10::Stream getDefaultStream(c10::Device device) const override {
    return StreamOf({IndexOf(device), 0});
  }
  c10::Stream getStreamFromGlobalPool(c10::Device device,
                                      bool /*high*/) const override {
    return getNewStream(device, 0);
  }
  c10::Stream getNewStream(c10::Device device,
                           int /*priority*/) const override {
    return StreamOf(Streams::Get().NewStream(IndexOf(device)));
  }
  c10::Stream exchangeStream(c10::Stream stream) const override {
    const StreamKey key = KeyOf(stream);
    return StreamOf({key.first, Streams::ExchangeStream(key)});
  }
  bool queryStream(const c10::Stream& stream) const override {
    return Streams::Get().IsIdle(KeyOf(stream));
  }
  void synchronizeStream(const c10::Stream& stream) const override {
    Add(Count::kStreamSynchronisations);
    Streams::Get().AwaitStream(KeyOf(stream));
  }
  void synchronizeDevice(c10::DeviceIndex device) const override {
    Add(Count::kDeviceSynchronisations);
    Streams::Get().AwaitDevice(device);
  }
  void recordDataPtrOnStream(const c10::DataPtr& /*data*/,
                             const c10::Stream& /*stream*/) const override {}

  void record(void** event, const c10::Stream& stream,
              c10::DeviceIndex /*device*/,
              c10::EventFlag /*flag*/) const override {
    Add(Count::kEventRecords);
    if (*event == nullptr) *event = new std::shared_ptr<Recording>;
    Last(*event) = Streams::Get().Record(KeyOf(stream));
  }
  void block(void* event, const c10::Stream& stream) const override {
    if (event == nullptr) return;
    Add(Count::kStreamWaits);
    Streams::Get().WaitIn(Last(event), KeyOf(stream));
  }
  bool queryEvent(void* event) const override {
    if (event == nullptr) return true;
    Add(Count::kEventQueries);
    return Streams::Get().IsDone(Last(event));
  }
  void synchronizeEvent(void* event) const override {
    if (event == nullptr) return;
    Add(Count::kEventSynchronisations);
    Streams::Get().Await(Last(event));
  }
  void destroyEvent(void* event,
                    c10::DeviceIndex /*device*/) const noexcept override {
    delete static_cast<std::shared_ptr<Recording>*>(event);
  }

 private:
  static std::shared_ptr<Recording>& Last(void* event) {
    return *static_cast<std::shared_ptr<Recording>*>(event);
  }
};

class DeviceAllocator final : public c10::Allocator {
 public:
  c10::DataPtr allocate(size_t bytes) override {
    return NewMemory(bytes, {kDevice, Streams::CurrentDevice()});
  }
  void copy_data(void* to, const void* from, size_t bytes) const override {
    std::memcpy(to, from, bytes);
  }
};

class PinnedAllocator final : public at::HostAllocator {
 public:
  c10::DataPtr allocate(size_t bytes) override { return NewPinned(bytes); }
  void copy_data(void* to, const void* from, size_t bytes) const override {
    std::memcpy(to, from, bytes);
  }
  // A late copy holds its target itself.
  bool record_event(void* /*data*/, void* /*context*/,
                    c10::Stream /*stream*/) override {
    return true;
  }
  void empty_cache() override {}
  at::HostStats get_stats() override { return {}; }
  void reset_accumulated_stats() override {}
  void reset_peak_stats() override {}
};

DeviceAllocator device_allocator;
PinnedAllocator pinned_allocator;

class Hooks final : public at::PrivateUse1HooksInterface {
 public:
  bool isBuilt() const override { return true; }
  bool isAvailable() const override { return true; }
  bool hasPrimaryContext(c10::DeviceIndex /*device*/) const override {
    return true;
  }
  c10::DeviceIndex deviceCount() const override { return kDevices; }
  const at::Generator& getDefaultGenerator(
      c10::DeviceIndex /*device*/) const override {
    return at::detail::getDefaultCPUGenerator();
  }
  void setCurrentDevice(c10::DeviceIndex device) const override {
    Streams::SetDevice(device);
  }
  c10::DeviceIndex getCurrentDevice() const override {
    return Streams::CurrentDevice();
  }
  c10::DeviceIndex exchangeDevice(c10::DeviceIndex device) const override {
    const c10::DeviceIndex before = Streams::CurrentDevice();
    Streams::SetDevice(device);
    return before;
  }
  c10::DeviceIndex maybeExchangeDevice(c10::DeviceIndex device) const override {
    return device < 0 ? getCurrentDevice() : exchangeDevice(device);
  }
  bool isPinnedPtr(const void* data) const override {
    return PinnedAt(data) != nullptr;
  }
  c10::Allocator* getPinnedMemoryAllocator() const override {
    return &pinned_allocator;
  }
  void resizePrivateUse1Bytes(const c10::Storage& storage,
                              size_t bytes) const override {
    c10::DataPtr memory = NewMemory(bytes, storage.device());
    if (const size_t kept = std::min(bytes, storage.nbytes()); kept > 0) {
      std::memcpy(memory.get(), storage.data(), kept);
    }
    storage.set_data_ptr_noswap(std::move(memory));
    storage.unsafeGetStorageImpl()->set_nbytes(bytes);
  }
};

C10_REGISTER_GUARD_IMPL(PrivateUse1, Guard);
REGISTER_ALLOCATOR(c10::DeviceType::PrivateUse1, &device_allocator);
REGISTER_HOST_ALLOCATOR(c10::DeviceType::PrivateUse1, &pinned_allocator);

const bool kIsRegistered = [] {
  c10::register_privateuse1_backend("pretend");
  at::RegisterPrivateUse1HooksInterface(new Hooks);
  return true;
}();

}  // namespace
}  // namespace fake_device
