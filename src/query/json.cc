#include "src/query/json.h"

#include <cmath>
#include <complex>
#include <type_traits>

namespace smdebug::query {
namespace {

// The part of `tensor` below `axis` that begins at element `next`, which is
// moved past it.
Json JsonAxis(const TensorView& tensor, size_t axis, int64_t& next) {
  if (axis == tensor.shape.size()) {
    return JsonElement(ElementAt(tensor, next++));
  }
  Json list = Json::array();
  for (int64_t i = 0; i < tensor.shape[axis]; ++i) {
    list.push_back(JsonAxis(tensor, axis + 1, next));
  }
  return list;
}

}  // namespace

Json JsonNumber(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "Infinity" : "-Infinity";
  return value;
}

Json JsonElement(const Element& element) {
  return std::visit(
      [](const auto& value) -> Json {
        using T = std::decay_t<decltype(value)>;
        if constexpr (std::is_floating_point_v<T>) {
          return JsonNumber(static_cast<double>(value));
        } else if constexpr (std::is_same_v<T, std::complex<double>>) {
          return Json::array(
              {JsonNumber(value.real()), JsonNumber(value.imag())});
        } else {
          return value;
        }
      },
      element);
}

Json JsonArray(const TensorView& tensor) {
  const ShallowView shallow(tensor);
  int64_t next = 0;
  return JsonAxis(shallow.get(), 0, next);
}

}  // namespace smdebug::query
