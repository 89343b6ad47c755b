#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "smdebug/internal/part_statistics.h"
#include "smdebug/tensor.h"

// Tensors of a device, for the shims: what is saved of them is still on its way
// to the memory of the host when the hook gets it.
namespace smdebug::internal {

// Memory of the host that a device was told to write into.
class Arrival {
 public:
  virtual ~Arrival() = default;

  // Waits until all is there, for at most `most`; false if it is not. Throws
  // Error if it will never be. Called on the hook's own thread.
  virtual bool Await(std::chrono::milliseconds most) = 0;
};

// One that another thread tells of. Thread-safe.
class ToldArrival final : public Arrival {
 public:
  bool Await(std::chrono::milliseconds most) override;

  // All is there.
  void Tell();

  // It never will be; `reason` goes on after "the device".
  void Fail(std::string reason);

 private:
  std::mutex mu_;
  std::condition_variable told_;
  bool is_there_ = false;
  std::string failure_;
};

// What has to come from the device of a tensor.
struct Wanted {
  bool anything = false;  // If not, the rest is unset, too.
  // The bytes: to be saved, or since only the core can make of them what is
  // asked for (medians, products, histograms).
  bool content = false;
  // If not those, what the elements are reduced to.
  bool statistics = false;
  bool deviations = false;  // And of that, what spreads need.
};

// The statistics of up to all elements of a tensor: a row for each `width` of
// them, in their order, and one for what is left.
struct Parts {
  const void* rows = nullptr;  // PartStatistics, or the same as floats.
  bool has_floats = false;
  int64_t elements = 0;
  int64_t width = 1;
};

// A tensor of which only dtype and shape are known yet.
//
// Where it is, `owner` keeps the memory, whose room the caller has from
// Hook::Reserve(); nobody writes into it after the arrival.
struct ArrivingTensor {
  DType dtype = DType::kFloat32;
  std::span<const int64_t> shape = {};
  std::span<const std::byte> content = {};  // Dense; empty: none.
  std::vector<Parts> parts = {};            // Empty: none.
  std::shared_ptr<const void> owner = nullptr;
  std::shared_ptr<Arrival> arrival = nullptr;  // Null: all is there.

  // The step that it is of; if that is over, it is dropped and counted.
  std::optional<int64_t> step = {};
  // Where set, it is saved as by Hook::SaveTensor(), or by
  // SaveTensorForNextStep(); else as by Save().
  std::optional<std::vector<std::string>> collections = {};
  bool for_next_step = false;
};

// The same for a number.
struct ArrivingScalar {
  const void* value = nullptr;  // A double, or a float.
  bool is_float = false;
  std::shared_ptr<const void> owner = nullptr;
  std::shared_ptr<Arrival> arrival = nullptr;
};

}  // namespace smdebug::internal
