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

std::vector<std::string> UsableTargets() {
  std::vector<std::string> names;
  // The better a target, the lower its bit.
  for (int64_t left = hwy::SupportedTargets() & HWY_TARGETS; left != 0;
       left &= left - 1) {
    names.emplace_back(hwy::TargetName(left & -left));
  }
  return names;
}

bool ComputesInFloat(DType dtype) noexcept {
  switch (KindOf(dtype)) {
    case ElementKind::kFloat:
      return ItemSize(dtype) <= sizeof(float);
    case ElementKind::kBoolean:
    case ElementKind::kSigned:
    case ElementKind::kUnsigned:
      return ItemSize(dtype) < sizeof(float);
    case ElementKind::kComplex:
    case ElementKind::kText:
      return false;
  }
  return false;
}

}  // namespace smdebug::reduce
#endif  // HWY_ONCE
