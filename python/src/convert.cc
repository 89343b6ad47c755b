#include "python/src/convert.h"

#include <cstring>
#include <memory>

#include <nanobind/stl/string.h>

#include "smdebug/config.h"

namespace nb = nanobind;

namespace smdebug::python {
namespace {

// Memory of a value, for Python's buffer protocol.
struct Buffer {
  Value value;
};

int GetBuffer(PyObject* self, Py_buffer* view, int flags) noexcept {
  const auto* buffer = nb::inst_ptr<Buffer>(self);
  const Bytes bytes = buffer->value.bytes();
  return PyBuffer_FillInfo(view, self, const_cast<std::byte*>(bytes.data()),
                           static_cast<Py_ssize_t>(bytes.size()),
                           /*readonly=*/1, flags);
}

PyType_Slot buffer_slots[] = {
    {Py_bf_getbuffer, reinterpret_cast<void*>(GetBuffer)}, {0, nullptr}};

// An object that lives until the process ends: the interpreter may be gone
// before static objects are destroyed.
nb::object& Immortal(nb::object made) {
  return *new nb::object(std::move(made));
}

// Not a static object with a constructor: an import may let go of the GIL, and
// another thread would wait with it for the constructor to end.
nb::object& NumpyArrayType() {
  static nb::object* type = nullptr;
  if (type == nullptr) {
    type = &Immortal(nb::module_::import_("numpy").attr("ndarray"));
  }
  return *type;
}

// The attribute `name` of ml_dtypes; None where the package is missing.
nb::object FindMlDtype(const char* name) {
  try {
    return nb::module_::import_("ml_dtypes").attr(name);
  } catch (nb::python_error& error) {
    if (!error.matches(PyExc_ImportError)) throw;
    return nb::none();
  }
}

// The NumPy dtype; None if there is none here.
nb::object MakeDtype(DType dtype) {
  const std::string name(DTypeName(dtype));
  const ElementType* known = FindElementType(dtype);
  nb::object type = known != nullptr && !known->in_numpy
                        ? FindMlDtype(name.c_str())
                        : nb::str(name.c_str());
  if (type.is_none()) return type;
  return nb::module_::import_("numpy").attr("dtype")(type);
}

nb::object& DtypeOf(DType dtype) {
  static std::array<nb::object*, 256> known{};
  nb::object*& entry = known[static_cast<uint8_t>(dtype)];
  if (entry == nullptr) entry = &Immortal(MakeDtype(dtype));
  return *entry;
}

nb::object StringsFrom(const Value& value) {
  nb::list texts;
  for (const std::string_view text : value.strings()) {
    texts.append(nb::steal(PyUnicode_DecodeUTF8(
        text.data(), static_cast<Py_ssize_t>(text.size()), "surrogateescape")));
  }
  nb::object array =
      nb::module_::import_("numpy").attr("array")(texts, nb::str("str"));
  array = array.attr("reshape")(TupleFrom(value.shape()));
  array.attr("setflags")(nb::arg("write") = false);
  return array;
}

// The same elements as float32.
Value Widened(const Value& value) {
  const auto size = static_cast<size_t>(value.size());
  const auto floats = std::make_shared<std::vector<float>>(size);
  for (size_t i = 0; i < size; ++i) {
    (*floats)[i] = static_cast<float>(value.Get(static_cast<int64_t>(i)));
  }
  const std::vector<int64_t> shape(value.shape().begin(), value.shape().end());
  return {DType::kFloat32, shape, std::as_bytes(std::span(*floats)), floats};
}

}  // namespace

void InitConvert(nb::module_& m) {
  nb::class_<Buffer>(m, "_Buffer", nb::type_slots(buffer_slots));
}

Reduction ReductionFrom(const std::string& name, bool abs) {
  const Reduction reduction = RequireReduction("reduction_name", name);
  return {reduction.op, reduction.abs || abs};
}

Mode ModeFrom(int number) {
  if (number < 1 || number > 4) {
    throw ConfigError("mode", std::to_string(number), "1 to 4");
  }
  return static_cast<Mode>(number);
}

nb::tuple TupleFrom(std::span<const int64_t> numbers) {
  nb::list list;
  for (const int64_t number : numbers) list.append(number);
  return nb::tuple(list);
}

nb::object ArrayFrom(const Value& value) {
  if (value.dtype() == DType::kString) return StringsFrom(value);
  nb::object& dtype = DtypeOf(value.dtype());
  if (dtype.is_none()) return ArrayFrom(Widened(value));
  return NumpyArrayType()(TupleFrom(value.shape()), dtype,
                          nb::cast(Buffer{value}));
}

}  // namespace smdebug::python
