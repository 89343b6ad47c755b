#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <nanobind/nanobind.h>

#include "smdebug/internal/arriving.h"

// Tensors that are on their way from a device, as Python hands them over.
namespace smdebug::python {

// Room in a hook's buffer. Given back when nobody has it any more.
struct Room {
  std::shared_ptr<const void> held;
};

// Told by a thread of Python's when a device has copied all.
struct Arrival {
  std::shared_ptr<internal::ToldArrival> told =
      std::make_shared<internal::ToldArrival>();
};

// Memory of a Python tensor that the hook's own thread may let go of: it is had
// by DLPack, whose tensors need no Python to be freed.
class HostMemory {
 public:
  // `capsule` is a "dltensor" of a dense tensor of bytes, which this takes.
  // Throws nanobind::type_error for anything else.
  HostMemory(nanobind::handle capsule, const Room& room);

  const std::byte* data() const noexcept { return bytes_.data(); }
  size_t size() const noexcept { return bytes_.size(); }
  const std::shared_ptr<const void>& owner() const noexcept { return owner_; }

  // `size` of the bytes, from `offset` on. Throws nanobind::value_error.
  std::span<const std::byte> Part(size_t offset, size_t size) const;

 private:
  std::shared_ptr<const void> owner_;
  std::span<const std::byte> bytes_;
};

// Where in a HostMemory rows of a tensor are: the first, how many elements they
// are about, and how many each.
using PartsInMemory = std::tuple<int64_t, int64_t, int64_t>;

class TensorHook;

// Adds to `hook` what is about tensors of devices, and their types to `m`.
void BindArriving(nanobind::module_& m, nanobind::class_<TensorHook>& hook);

}  // namespace smdebug::python
