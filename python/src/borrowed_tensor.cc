#include "python/src/borrowed_tensor.h"

#include <optional>
#include <utility>

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "python/src/dlpack.h"

namespace nb = nanobind;

namespace smdebug::python {
namespace {

constexpr int32_t kCpu = 1;

const DLPackExchange* FindExchange(nb::handle tensor_type) {
  PyObject* capsule =
      PyObject_GetAttrString(tensor_type.ptr(), "__dlpack_c_exchange_api__");
  if (capsule == nullptr) {
    PyErr_Clear();
    return nullptr;
  }
  const auto owner = nb::steal<nb::object>(capsule);
  const auto* table = static_cast<const DLPackExchange*>(
      PyCapsule_GetPointer(capsule, "dlpack_exchange_api"));
  if (table == nullptr) PyErr_Clear();
  while (table != nullptr && table->major != 1) table = table->previous;
  if (table == nullptr || table->tensor_from_object == nullptr) return nullptr;
  return table;
}

std::optional<DType> DtypeFrom(const DLPackTensor& tensor) {
  if (tensor.type_lanes != 1) return std::nullopt;
  for (const ElementType& type : kElementTypes) {
    if (type.dlpack_code == tensor.type_code &&
        type.item_size * 8 == tensor.type_bits) {
      return type.dtype;
    }
  }
  return std::nullopt;
}

// Fills `borrowed` from the tuple that `describe` gave.
void Unpack(const nb::tuple& parts, BorrowedTensor& borrowed) {
  const auto dtype = ParseDType(nb::cast<std::string>(parts[1]));
  if (!dtype) throw nb::type_error("describe() gave an unknown dtype");
  borrowed.dtype = *dtype;
  borrowed.owner = parts[4];
  borrowed.extents = nb::cast<std::vector<int64_t>>(parts[2]);
  const size_t rank = borrowed.extents.size();
  if (!parts[3].is_none()) {
    const auto strides = nb::cast<std::vector<int64_t>>(parts[3]);
    if (strides.size() != rank) {
      throw nb::type_error("describe() gave strides of another rank");
    }
    borrowed.extents.insert(borrowed.extents.end(), strides.begin(),
                            strides.end());
    borrowed.strides = std::span(borrowed.extents).subspan(rank);
  }
  borrowed.shape = std::span(borrowed.extents).first(rank);
  if (*dtype != DType::kString) {
    borrowed.data =
        reinterpret_cast<const void*>(nb::cast<uintptr_t>(parts[0]));
    return;
  }
  for (const nb::handle text : parts[0]) {
    Py_ssize_t size = 0;
    const char* utf8 = PyUnicode_AsUTF8AndSize(text.ptr(), &size);
    if (utf8 == nullptr) throw nb::python_error();
    borrowed.strings.emplace_back(utf8, static_cast<size_t>(size));
  }
  // The texts themselves live in the list.
  borrowed.owner = nb::make_tuple(parts[0], parts[4]);
  borrowed.data = borrowed.strings.data();
}

}  // namespace

TensorBorrower::TensorBorrower(nb::tuple types, nb::tuple differs,
                               nb::object describe)
    : types_(std::move(types)),
      differs_(std::move(differs)),
      describe_(std::move(describe)) {
  if (types_.size() == 0) return;
  base_ = reinterpret_cast<PyTypeObject*>(types_[0].ptr());
  exchange_ = FindExchange(types_[0]);
}

bool TensorBorrower::IsTensor(nb::handle object) const noexcept {
  return base_ != nullptr &&
         PyType_IsSubtype(Py_TYPE(object.ptr()), base_) != 0;
}

bool TensorBorrower::HoldsItsValues(nb::handle object) const {
  const auto* type = reinterpret_cast<PyObject*>(Py_TYPE(object.ptr()));
  bool plain = false;
  for (const nb::handle known : types_) plain = plain || known.ptr() == type;
  if (!plain) return false;
  for (const nb::handle differs : differs_) {
    if (differs(object).is(nb::handle(Py_True))) return false;
  }
  return true;
}

bool TensorBorrower::BorrowFast(nb::handle tensor,
                                BorrowedTensor& borrowed) const {
  DLPackTensor found{};
  if (exchange_->tensor_from_object(tensor.ptr(), &found) != 0) {
    PyErr_Clear();
    return false;
  }
  const auto dtype = DtypeFrom(found);
  if (found.device_type != kCpu || !dtype ||
      KindOf(*dtype) == ElementKind::kComplex) {
    return false;
  }
  const auto rank = static_cast<size_t>(found.ndim);
  borrowed.data = static_cast<const std::byte*>(found.data) + found.byte_offset;
  borrowed.dtype = *dtype;
  borrowed.shape = {found.shape, rank};
  if (found.strides != nullptr) borrowed.strides = {found.strides, rank};
  return true;
}

bool TensorBorrower::BorrowAtHand(nb::handle tensor,
                                  BorrowedTensor& borrowed) const noexcept {
  // Classes below the tensor's own may keep their values elsewhere.
  try {
    return exchange_ != nullptr && HoldsItsValues(tensor) &&
           BorrowFast(tensor, borrowed);
  } catch (nb::python_error&) {
    return false;  // Whoever borrows it meets that again.
  }
}

std::string TensorBorrower::Borrow(nb::handle tensor,
                                   BorrowedTensor& borrowed) const {
  if (BorrowAtHand(tensor, borrowed)) return {};
  const nb::object described = describe_(tensor);
  if (nb::isinstance<nb::str>(described)) {
    return nb::cast<std::string>(described);
  }
  Unpack(nb::cast<nb::tuple>(described), borrowed);
  return {};
}

}  // namespace smdebug::python
