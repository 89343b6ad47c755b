#include <cmath>
#include <complex>

#include "smdebug/error.h"
#include "smdebug/trial.h"
#include "src/reduce/reduce.h"

namespace smdebug {

Value::Value(DType dtype, std::vector<int64_t> shape, Bytes bytes,
             std::shared_ptr<const void> owner)
    : dtype_(dtype),
      shape_(std::move(shape)),
      bytes_(bytes),
      owner_(std::move(owner)) {}

Value::Value(std::vector<int64_t> shape, std::vector<std::string_view> strings,
             std::shared_ptr<const void> owner)
    : dtype_(DType::kString),
      shape_(std::move(shape)),
      strings_(std::make_shared<const std::vector<std::string_view>>(
          std::move(strings))),
      owner_(std::move(owner)) {}

std::span<const std::string_view> Value::strings() const noexcept {
  if (strings_ == nullptr) return {};
  return *strings_;
}

TensorView Value::view() const noexcept {
  const void* data = dtype_ == DType::kString
                         ? static_cast<const void*>(strings().data())
                         : bytes_.data();
  return {data, dtype_, shape_, {}};
}

double Value::Get(int64_t index) const noexcept {
  const size_t item = ItemSize(dtype_);
  const std::byte* at = bytes_.data() + static_cast<size_t>(index) * item;
  // The kernels know every type; one element is a tensor of rank 0.
  return reduce::Reduce({at, dtype_, {}, {}}, {}).min;
}

double Value::Reduce(Reduction reduction, Spread spread) const {
  return reduce::Reduce(view(), reduce::Wanted::For({&reduction, 1}))
      .Value(reduction, spread);
}

}  // namespace smdebug
