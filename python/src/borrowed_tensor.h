#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <nanobind/nanobind.h>

#include "smdebug/tensor.h"

struct DLPackExchange;

namespace smdebug::python {

// The memory of a Python object, described for the core. Valid while the object
// that it was made from lives, and while `owner` does.
struct BorrowedTensor {
  const void* data = nullptr;
  DType dtype = DType::kFloat32;
  std::span<const int64_t> shape = {};
  std::span<const int64_t> strides = {};

  // What the spans point at where the framework keeps nothing of that kind.
  std::vector<int64_t> extents = {};
  std::vector<std::string_view> strings = {};
  nanobind::object owner = {};

  TensorView view() const noexcept { return {data, dtype, shape, strides}; }
};

// Borrows the tensors of one framework. All calls need the GIL.
//
// A tensor of real numbers in plain memory of the CPU is reached through the
// framework's DLPack exchange table, where its class has one. For anything else
// `describe` is called: it gives a tuple (address, dtype name, shape, strides
// or None, owner) of memory that holds the same values, or (texts, "str",
// shape, None, owner), or a text that says why there is none.
class TensorBorrower {
 public:
  // `types` are the framework's tensor class and those classes below it whose
  // objects keep their values as it does. May be empty. `differs` are called
  // with such a tensor; any of them gives True if its memory does not hold the
  // values themselves, such as those of a negative.
  TensorBorrower(nanobind::tuple types, nanobind::tuple differs,
                 nanobind::object describe);

  // Whether `object` is a tensor, of the class itself or of one below it.
  bool IsTensor(nanobind::handle object) const noexcept;

  // Whether its class is the framework's tensor class itself.
  bool IsPlainTensor(nanobind::handle object) const noexcept {
    return base_ != nullptr && Py_TYPE(object.ptr()) == base_;
  }

  // Borrow() if that needs no call of `describe`; false if it does.
  bool BorrowAtHand(nanobind::handle tensor,
                    BorrowedTensor& borrowed) const noexcept;

  // Empty on success, else why the tensor cannot be borrowed. Throws what
  // `describe` raises.
  std::string Borrow(nanobind::handle tensor, BorrowedTensor& borrowed) const;

 private:
  bool HoldsItsValues(nanobind::handle object) const;
  bool BorrowFast(nanobind::handle tensor, BorrowedTensor& borrowed) const;

  nanobind::tuple types_;
  nanobind::tuple differs_;
  PyTypeObject* base_ = nullptr;
  nanobind::object describe_;
  const DLPackExchange* exchange_ = nullptr;
};

}  // namespace smdebug::python
