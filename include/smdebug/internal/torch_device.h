#pragma once

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <initializer_list>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <torch/torch.h>

#include "smdebug/hook.h"
#include "smdebug/internal/arriving.h"
#include "smdebug/internal/torch_rows.h"
#include "smdebug/internal/torch_tensor.h"

// Tensors on a device as torch.h saves them: nothing waits for the device but
// the hook's own thread.
namespace smdebug::internal {

// What a device has come to when it is done with all that it was told so far.
class EventArrival final : public Arrival {
 public:
  // `kept` is what the device still reads.
  EventArrival(c10::Event event, std::vector<torch::Tensor> kept)
      : event_(std::move(event)), kept_(std::move(kept)) {}

  // Asks again and again, since a device that hangs lets nobody go.
  bool Await(std::chrono::milliseconds most) override {
    using std::chrono::microseconds;
    const auto begin = std::chrono::steady_clock::now();
    for (microseconds nap(20); !event_.query();
         nap = std::min(2 * nap, microseconds(1000))) {
      if (std::chrono::steady_clock::now() - begin >= most) return false;
      std::this_thread::sleep_for(nap);
    }
    kept_.clear();
    return true;
  }

 private:
  const c10::Event event_;
  std::vector<torch::Tensor> kept_;
};

// Takes the tensors of devices that have streams, or with
// SMDEBUG_CPU_AS_DEVICE=1, for tests, those of the CPU.
//
// What was taken is handed to the hook by Settle(), before the step ends: small
// tensors that are reduced are reduced together, and all reductions come in one
// transfer. Bytes are copied to pinned memory before the device goes on.
//
// Thread-safe. The hook outlives this.
class TorchDevices {
 public:
  explicit TorchDevices(Hook* hook) : hook_(*hook) {
    const char* text = std::getenv("SMDEBUG_CPU_AS_DEVICE");
    takes_cpu_ = text != nullptr && std::string_view(text) == "1";
  }

  // Whether `tensor` might be taken: if not, not even a lock is.
  bool MayTake(const torch::Tensor& tensor) const {
    return tensor.defined() && !tensor.is_meta() &&
           (takes_cpu_ || !tensor.device().is_cpu());
  }

  // Whether `tensor` is saved from here, in `collections` if there are any.
  // Throws what LibTorch throws.
  bool Take(std::string_view name, const torch::Tensor& tensor,
            const std::vector<std::string>* collections = nullptr) {
    if (!MayTake(tensor) || tensor.is_nested() || tensor.is_quantized() ||
        tensor.layout() != torch::kStrided) {
      return false;
    }
    const auto dtype = TorchDType(tensor.scalar_type());
    if (!dtype) return false;
    const torch::NoGradGuard no_grad;
    const std::lock_guard lock(mu_);
    Device* device = Find(tensor.device());
    if (device == nullptr) return false;
    Wanted wanted;
    if (collections == nullptr) {
      wanted = hook_.WantedOf(name);
    } else {
      const std::vector<std::string_view> views(collections->begin(),
                                                collections->end());
      wanted = hook_.WantedOf(name, views);
    }
    if (!wanted.anything) return true;
    Item item = {.name = std::string(name),
                 .dtype = *dtype,
                 .shape = tensor.sizes().vec(),
                 .step = hook_.step()};
    if (collections != nullptr) item.collections = *collections;
    const auto plain = tensor.detach().resolve_conj().resolve_neg();
    device->NoteStream();
    if (wanted.statistics && !device->rows.CanReduce(plain.scalar_type())) {
      wanted.content = true;
    }
    if (plain.numel() != 0 && wanted.content) {
      if (!Copy(*device, plain, item)) return true;
    } else if (plain.numel() != 0 && wanted.statistics) {
      item.rows = device->rows.Add(plain.reshape({-1}), wanted.deviations);
    }
    device->items.push_back(std::move(item));
    if (device->items.size() >= kMostItems) HandOver(*device);
    return true;
  }

  // Hands over what was taken.
  void Settle() {
    const std::lock_guard lock(mu_);
    for (auto& [place, device] : devices_) {
      if (device == nullptr || device->items.empty()) continue;
      const torch::NoGradGuard no_grad;
      hook_.Try("tensors on a device", [&] { HandOver(*device); });
    }
  }

 private:
  static constexpr size_t kMostItems = 4096;

  struct Item {
    std::string name = {};
    DType dtype = DType::kFloat32;
    std::vector<int64_t> shape = {};
    int64_t step = 0;
    std::optional<std::vector<std::string>> collections = {};
    torch::Tensor host = {};  // Undefined without content.
    std::shared_ptr<const void> room = nullptr;
    std::optional<size_t> rows = {};  // A number of TorchRows.
  };

  struct Device {
    explicit Device(torch::Device where) : place(where), rows(where) {
      if (place.is_cpu()) return;
      guard.emplace(place.type());
      // Throws for a device that has none.
      c10::Event(place.type()).record(guard->getStream(place));
    }

    // The current stream of this thread computes what is taken.
    void NoteStream() {
      if (!guard) return;
      const c10::Stream stream = guard->getStream(place);
      if (std::ranges::find(streams, stream) == streams.end()) {
        streams.push_back(stream);
      }
    }

    // The current stream goes on after those; whether there are others.
    bool Join() {
      if (!guard) return false;
      const c10::Stream current = guard->getStream(place);
      bool are_others = false;
      for (const c10::Stream& stream : std::exchange(streams, {})) {
        if (stream == current) continue;
        are_others = true;
        c10::Event event(place.type());
        event.record(stream);
        event.block(current);
      }
      return are_others;
    }

    torch::Device place;
    std::optional<c10::impl::VirtualGuardImpl> guard = {};
    TorchRows rows;
    std::vector<Item> items = {};
    std::vector<c10::Stream> streams = {};
  };

  // Null for a device without streams.
  Device* Find(torch::Device place) {
    const auto key = std::pair(place.type(), place.index());
    const auto [found, is_new] = devices_.try_emplace(key);
    if (is_new) {
      try {
        found->second = std::make_unique<Device>(place);
      } catch (const std::exception&) {
        // Its tensors are copied as they are saved.
      }
    }
    return found->second.get();
  }

  // Room for `bytes`; null if there is none, which is counted.
  std::shared_ptr<const void> Reserve(
      Device& device, const std::vector<std::string_view>& names,
      int64_t bytes) {
    const auto size = static_cast<uint64_t>(bytes);
    auto room = hook_.Reserve(names, size, /*waits=*/false);
    if (room != nullptr) return room;
    // What was taken before may be what takes the room.
    Send(device, nullptr, {});
    return hook_.Reserve(names, size, /*waits=*/true);
  }

  torch::Tensor Allocate(const Device& device, int64_t bytes) {
    const auto options = torch::TensorOptions(torch::kByte).device(torch::kCPU);
    if (device.guard && pins_) {
      try {
        return torch::empty({bytes}, options.pinned_memory(true));
      } catch (const c10::Error&) {
        pins_ = false;  // A device without such memory.
      }
    }
    return torch::empty({bytes}, options);
  }

  // False if there is no room.
  bool Copy(Device& device, const torch::Tensor& tensor, Item& item) {
    const auto bytes =
        tensor.numel() * static_cast<int64_t>(tensor.element_size());
    item.room = Reserve(device, {item.name}, bytes);
    if (item.room == nullptr) return false;
    item.host = Allocate(device, bytes);
    item.host.view(tensor.scalar_type())
        .copy_(tensor.reshape({-1}), /*non_blocking=*/true);
    return true;
  }

  void HandOver(Device& device) {
    const bool are_others = device.Join();
    std::vector<torch::Tensor> kept;
    if (are_others) kept = device.rows.gathered();
    const torch::Tensor rows = device.rows.Reduce();
    if (!rows.defined()) return Send(device, nullptr, std::move(kept));
    const torch::Tensor bytes = rows.view({-1}).view(torch::kByte);
    std::vector<std::string_view> names;
    for (const Item& item : device.items) {
      if (item.rows) names.push_back(item.name);
    }
    auto numbers = std::make_shared<Item>();
    numbers->room = Reserve(device, names, bytes.numel());
    if (numbers->room == nullptr) {
      std::erase_if(device.items, [](const Item& item) { return !!item.rows; });
      device.rows.Forget();
      return Send(device, nullptr, std::move(kept));
    }
    numbers->host = Allocate(device, bytes.numel());
    numbers->host.copy_(bytes, /*non_blocking=*/true);
    kept.push_back(rows);
    Send(device, numbers, std::move(kept));
  }

  // Hands over what is on its way: what was reduced only with its `numbers`.
  void Send(Device& device, const std::shared_ptr<Item>& numbers,
            std::vector<torch::Tensor> kept) {
    device.Join();
    std::vector<Item> items;
    std::vector<Item> left;
    for (Item& item : std::exchange(device.items, {})) {
      const bool waits = item.rows && numbers == nullptr;
      (waits ? left : items).push_back(std::move(item));
    }
    device.items = std::move(left);
    std::shared_ptr<Arrival> arrival;
    if (device.guard) {
      c10::Event event(device.place.type());
      event.record(device.guard->getStream(device.place));
      arrival =
          std::make_shared<EventArrival>(std::move(event), std::move(kept));
    }
    for (const Item& item : items) {
      ArrivingTensor tensor = {.dtype = item.dtype,
                               .shape = item.shape,
                               .arrival = arrival,
                               .step = item.step,
                               .collections = item.collections};
      if (item.rows) {
        tensor.owner = numbers;
        tensor.parts = device.rows.PartsOf(*item.rows, numbers->host);
      } else if (item.host.defined()) {
        auto owner =
            std::make_shared<Item>(Item{.host = item.host, .room = item.room});
        tensor.content = {static_cast<const std::byte*>(item.host.data_ptr()),
                          static_cast<size_t>(item.host.numel())};
        tensor.owner = std::move(owner);
      }
      hook_.SaveArriving(item.name, tensor);
    }
    if (numbers != nullptr) device.rows.Forget();
  }

  Hook& hook_;
  bool takes_cpu_ = false;
  bool pins_ = true;
  std::mutex mu_;
  std::map<std::pair<torch::DeviceType, torch::DeviceIndex>,
           std::unique_ptr<Device>>
      devices_;
};

}  // namespace smdebug::internal
