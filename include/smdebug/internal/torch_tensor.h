#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <ranges>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include <torch/torch.h>

#include "smdebug/tensor.h"

// Tensors and modules of LibTorch as torch.h needs them.
namespace smdebug::internal {

// The core's name for an element type. By LibTorch's own names, of which older
// versions lack some; nullopt for what cannot be saved.
inline std::optional<DType> TorchDType(torch::ScalarType type) {
  const std::string_view name = c10::toString(type);
  for (const ElementType& known : kElementTypes) {
    if (known.torch_name == name) return known.dtype;
  }
  return std::nullopt;
}

// The values of a tensor in plain memory of the CPU, copied there only if they
// are elsewhere, sparse or quantized.
class PlainTensor {
 public:
  // Throws what LibTorch throws.
  explicit PlainTensor(const torch::Tensor& tensor) {
    const torch::NoGradGuard no_grad;
    reason_ = Take(tensor);
  }

  // Why there are no values; empty if there are.
  const std::string& reason() const noexcept { return reason_; }

  // Valid as long as this, and only without a reason.
  TensorView view() const {
    return {Data(plain_),
            dtype_,
            {plain_.sizes().data(), plain_.sizes().size()},
            {plain_.strides().data(), plain_.strides().size()}};
  }

 private:
  // What takes more than this as a dense tensor is not made dense.
  static constexpr int64_t kMostDenseBytes = int64_t{256} << 20;

  // Does not part a tensor from those that it shares its memory with.
  template <typename Tensor>
  static const void* Data(const Tensor& tensor) {
    if constexpr (requires { tensor.const_data_ptr(); }) {
      return tensor.const_data_ptr();
    } else {
      return tensor.data_ptr();
    }
  }

  static bool IsPlain(const torch::Tensor& tensor) {
    return tensor.layout() == torch::kStrided && tensor.device().is_cpu() &&
           !tensor.is_quantized() && !tensor.is_conj() && !tensor.is_neg();
  }

  std::string Take(const torch::Tensor& tensor) {
    if (!tensor.defined()) return "is undefined";
    if (tensor.is_meta()) return "is on the meta device";
    if (tensor.is_nested()) return "is nested";
    plain_ = tensor;
    if (!IsPlain(tensor)) {
      plain_ = tensor.detach();
      if (plain_.is_quantized()) plain_ = plain_.dequantize();
      if (plain_.layout() != torch::kStrided) {
        const auto bytes =
            plain_.numel() * static_cast<int64_t>(plain_.element_size());
        if (bytes > kMostDenseBytes) {
          return "is sparse and would take more than 256 MB";
        }
        plain_ = plain_.to_dense();
      }
      plain_ = plain_.resolve_conj().resolve_neg();
      if (!plain_.device().is_cpu()) plain_ = plain_.to(torch::kCPU);
    }
    const auto dtype = TorchDType(plain_.scalar_type());
    if (!dtype) {
      return std::string("has the dtype ") +
             c10::toString(plain_.scalar_type()) + ", which cannot be saved";
    }
    dtype_ = *dtype;
    return "";
  }

  torch::Tensor plain_;
  DType dtype_ = DType::kFloat32;
  std::string reason_;
};

// Calls `visit` with each tensor of `value`: itself, or what is in tuples,
// containers and optionals of any depth. Other values, and tensors that are
// undefined as None is in Python, are passed over.
template <typename Value, typename Visit>
void ForEachTensor(const Value& value, const Visit& visit) {
  if constexpr (std::is_base_of_v<torch::Tensor, Value>) {
    if (value.defined()) visit(value);
  } else if constexpr (requires { std::tuple_size<Value>::value; }) {
    std::apply(
        [&](const auto&... items) { (ForEachTensor(items, visit), ...); },
        value);
  } else if constexpr (requires {
                         { value.has_value() } -> std::same_as<bool>;
                         *value;
                       }) {
    if (value.has_value()) ForEachTensor(*value, visit);
  } else if constexpr (std::ranges::range<const Value>) {
    using Item = std::ranges::range_value_t<const Value>;
    if constexpr (!std::is_arithmetic_v<Item> && !std::is_same_v<Item, Value>) {
      for (const auto& item : value) ForEachTensor(item, visit);
    }
  }
}

// The same for what AnyModules hand on to each other.
template <typename Visit>
void ForEachTensor(torch::nn::AnyValue& value, const Visit& visit) {
  if (const auto* tensor = value.try_get<torch::Tensor>()) visit(*tensor);
}

// The module that a ModuleHolder, a pointer or an AnyModule holds, or itself.
template <typename Model>
auto& ModuleOf(Model& model) {
  if constexpr (std::is_base_of_v<torch::nn::Module, Model>) {
    return model;
  } else if constexpr (requires { model.ptr(); }) {
    return *model.ptr();
  } else {
    return *model;
  }
}

// `forward` of what ModuleOf() finds.
template <typename Model, typename... Args>
auto Call(Model& model, Args&&... args) {
  if constexpr (std::is_same_v<std::remove_cv_t<Model>, torch::nn::AnyModule>) {
    return model.forward(std::forward<Args>(args)...);
  } else {
    return ModuleOf(model).forward(std::forward<Args>(args)...);
  }
}

// The name that Python would give to the class of a module: without namespaces
// and template arguments, and without the "Impl" that LibTorch's modules end
// in. A module that was constructed with a name goes by that.
inline std::string ClassName(const torch::nn::Module& module) {
  std::string name;
  int depth = 0;
  for (const char letter : module.name()) {
    if (letter == '<') ++depth;
    if (depth == 0) name += letter;
    if (letter == '>') --depth;
  }
  if (const size_t at = name.rfind("::"); at != std::string::npos) {
    name.erase(0, at + 2);
  }
  constexpr std::string_view kSuffix = "Impl";
  if (name.size() > kSuffix.size() && name.ends_with(kSuffix)) {
    name.erase(name.size() - kSuffix.size());
  }
  return name;
}

}  // namespace smdebug::internal
