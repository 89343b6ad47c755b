#include "src/reduce/kernels.h"

// Highway includes this file and the kernels once per CPU target.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/reduce/kernels.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"
#include "src/reduce/convert-inl.h"
#include "src/reduce/cut-inl.h"
#include "src/reduce/moments-inl.h"
#include "src/reduce/product-inl.h"

HWY_BEFORE_NAMESPACE();
namespace smdebug::reduce::HWY_NAMESPACE {

template <typename T>
constexpr BlockKernels<T> BlockKernelsOf() {
  return {Moments<T>,       ResidualsOf<T>, CountZeros<T>,
          CountSpecials<T>, Product<T>,     CutBlock<T>};
}

const Kernels* TargetKernels() {
  static constexpr Kernels kKernels = {BlockKernelsOf<float>(),
                                       BlockKernelsOf<double>(), ConvertToFloat,
                                       ConvertToDouble};
  return &kKernels;
}

}  // namespace smdebug::reduce::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace smdebug::reduce {

HWY_EXPORT(TargetKernels);

const Kernels& BestKernels() noexcept {
  return *HWY_DYNAMIC_DISPATCH(TargetKernels)();
}

bool ComputesInFloat(DType dtype) noexcept {
  switch (dtype) {
    case DType::kFloat32:
    case DType::kFloat16:
    case DType::kBfloat16:
    case DType::kFloat8E4M3FN:
    case DType::kFloat8E5M2:
    case DType::kInt8:
    case DType::kUint8:
    case DType::kInt16:
    case DType::kUint16:
    case DType::kBool:
      return true;
    default:
      return false;
  }
}

}  // namespace smdebug::reduce
#endif  // HWY_ONCE
