#include <algorithm>
#include <utility>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "python/src/arriving.h"
#include "python/src/bindings.h"
#include "python/src/dlpack.h"
#include "python/src/gil.h"
#include "python/src/tensor_hook.h"

namespace nb = nanobind;
using namespace nb::literals;  // NOLINT(google-build-using-namespace)

namespace smdebug::python {
namespace {

constexpr size_t kRowColumns =
    sizeof(internal::PartStatistics) / sizeof(double);

struct OwnedMemory {
  OwnedMemory(DLPackOwnedTensor* memory, std::shared_ptr<const void> held)
      : owned(memory), room(std::move(held)) {}
  ~OwnedMemory() {
    if (owned->deleter != nullptr) owned->deleter(owned);
  }
  OwnedMemory(const OwnedMemory&) = delete;
  OwnedMemory& operator=(const OwnedMemory&) = delete;

  DLPackOwnedTensor* const owned;
  const std::shared_ptr<const void> room;
};

std::vector<std::string_view> ViewsOf(const std::vector<std::string>& names) {
  return {names.begin(), names.end()};
}

using Collections = std::optional<std::vector<std::string>>;

nb::tuple Wanted(TensorHook& hook, std::string_view name,
                 const Collections& collections) {
  const internal::Wanted wanted =
      collections ? hook.core().WantedOf(name, ViewsOf(*collections))
                  : hook.core().WantedOf(name);
  return nb::make_tuple(wanted.anything, wanted.content, wanted.statistics,
                        wanted.deviations);
}

std::optional<Room> Reserve(TensorHook& hook,
                            const std::vector<std::string>& names,
                            uint64_t bytes, bool waits) {
  const GilRelease released;
  auto held = hook.core().Reserve(ViewsOf(names), bytes, waits);
  if (held == nullptr) return std::nullopt;
  return Room{std::move(held)};
}

void SaveArriving(TensorHook& hook, std::string_view name,
                  const std::string& dtype, const std::vector<int64_t>& shape,
                  const HostMemory* memory, const Arrival* arrival,
                  std::optional<int64_t> step,
                  std::optional<std::tuple<size_t, size_t>> content,
                  const std::vector<PartsInMemory>& parts, bool has_floats,
                  Collections collections, bool next_step) {
  const auto known = ParseDType(dtype);
  if (!known) throw nb::value_error("an unknown dtype");
  internal::ArrivingTensor tensor = {.dtype = *known,
                                     .shape = shape,
                                     .step = step,
                                     .collections = std::move(collections),
                                     .for_next_step = next_step};
  if (arrival != nullptr) tensor.arrival = arrival->told;
  if (memory != nullptr) tensor.owner = memory->owner();
  if ((content || !parts.empty()) && memory == nullptr) {
    throw nb::value_error("what arrives needs memory");
  }
  if (content) {
    const auto& [offset, size] = *content;
    tensor.content = memory->Part(offset, size);
  }
  const size_t row_bytes =
      kRowColumns * (has_floats ? sizeof(float) : sizeof(double));
  for (const auto& [first, elements, width] : parts) {
    if (first < 0 || elements < 1 || width < 1) {
      throw nb::value_error("parts have rows");
    }
    const auto rows = static_cast<size_t>((elements + width - 1) / width);
    const auto bytes =
        memory->Part(static_cast<size_t>(first) * row_bytes, rows * row_bytes);
    tensor.parts.push_back({.rows = bytes.data(),
                            .has_floats = has_floats,
                            .elements = elements,
                            .width = width});
  }
  const GilRelease released;
  hook.core().SaveArriving(name, tensor);
}

void SaveArrivingScalar(TensorHook& hook, std::string_view name,
                        const HostMemory& memory, size_t offset, bool is_float,
                        const Arrival& arrival, std::optional<double> timestamp,
                        std::optional<int64_t> step, bool is_metric) {
  const auto bytes =
      memory.Part(offset, is_float ? sizeof(float) : sizeof(double));
  const internal::ArrivingScalar scalar = {.value = bytes.data(),
                                           .is_float = is_float,
                                           .owner = memory.owner(),
                                           .arrival = arrival.told};
  const GilRelease released;
  hook.core().SaveArriving(
      name, scalar,
      {.timestamp = timestamp, .step = step, .sm_metric = is_metric});
}

}  // namespace

HostMemory::HostMemory(nb::handle capsule, const Room& room) {
  auto* owned = static_cast<DLPackOwnedTensor*>(
      PyCapsule_GetPointer(capsule.ptr(), "dltensor"));
  if (owned == nullptr) throw nb::python_error();
  const DLPackTensor& tensor = owned->tensor;
  if (tensor.ndim != 1 || tensor.type_bits != 8) {
    throw nb::type_error("a tensor of bytes is needed");
  }
  auto memory = std::make_shared<OwnedMemory>(owned, room.held);
  PyCapsule_SetName(capsule.ptr(), "used_dltensor");
  bytes_ = {static_cast<const std::byte*>(tensor.data) + tensor.byte_offset,
            static_cast<size_t>(tensor.shape[0])};
  owner_ = std::move(memory);
}

std::span<const std::byte> HostMemory::Part(size_t offset, size_t size) const {
  if (offset > bytes_.size() || size > bytes_.size() - offset) {
    throw nb::value_error("it lies outside of the memory");
  }
  return bytes_.subspan(offset, size);
}

void BindArriving(nb::module_& m, nb::class_<TensorHook>& hook) {
  nb::class_<Room>(m, "Room");
  nb::class_<Arrival>(m, "Arrival")
      .def(nb::init<>())
      .def(
          "tell", [](Arrival& arrival) { arrival.told->Tell(); },
          "All is there.")
      .def(
          "fail",
          [](Arrival& arrival, std::string reason) {
            arrival.told->Fail(std::move(reason));
          },
          "reason"_a, "It never will be.");
  nb::class_<HostMemory>(m, "Memory")
      .def(nb::init<nb::handle, const Room&>(), "capsule"_a, "room"_a);
  hook.def("expect_settling", &TensorHook::ExpectSettling)
      .def("take_elsewhere", &TensorHook::TakeElsewhere, "taker"_a,
           "takes_all"_a)
      .def("wanted", &Wanted, "name"_a, "collections"_a = nb::none(),
           "Whether anything is saved of it now, and for that its content, or\n"
           "statistics, and of those what spreads need.")
      .def("reserve", &Reserve, "names"_a, "size"_a, "waits"_a)
      .def("save_arriving", &SaveArriving, "name"_a, "dtype"_a, "shape"_a,
           "memory"_a.none(), "arrival"_a.none(), "step"_a.none(),
           "content"_a = nb::none(), "parts"_a = std::vector<PartsInMemory>(),
           "has_floats"_a = false, "collections"_a = nb::none(),
           "next_step"_a = false)
      .def("save_arriving_scalar", &SaveArrivingScalar, "name"_a, "memory"_a,
           "offset"_a, "is_float"_a, "arrival"_a, "timestamp"_a.none(),
           "step"_a.none(), "is_metric"_a);
}

}  // namespace smdebug::python
