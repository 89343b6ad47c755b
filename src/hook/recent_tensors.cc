#include "src/hook/recent_tensors.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace smdebug::hook {
namespace {

constexpr size_t kMost = 16;

}  // namespace

std::shared_ptr<const CapturedTensor> RecentTensors::Find(
    const TensorView& tensor) const {
  const auto is_twin = [&](const auto& other) {
    return other->source == tensor.data && other->dtype == tensor.dtype &&
           std::ranges::equal(other->shape, tensor.shape);
  };
  // The newest counts: memory is used again.
  const auto it =
      std::ranges::find_if(tensors_.rbegin(), tensors_.rend(), is_twin);
  if (it == tensors_.rend() || !tensor.dense()) return nullptr;
  return *it;
}

void RecentTensors::Add(const CapturedTensor& tensor) {
  // What is on its way cannot be compared.
  if (tensor.same_as != nullptr || tensor.arriving != nullptr ||
      !MayBeShared(tensor)) {
    return;
  }
  auto copy = std::make_shared<CapturedTensor>();
  copy->plan = tensor.plan;
  copy->dtype = tensor.dtype;
  copy->shape = tensor.shape;
  copy->content = tensor.content;
  copy->source = tensor.source;
  bytes_ += copy->bytes().size();
  tensors_.push_back(std::move(copy));
  while (!tensors_.empty() &&
         (tensors_.size() > kMost || bytes_ > most_bytes_)) {
    bytes_ -= tensors_.front()->bytes().size();
    tensors_.pop_front();
  }
}

void RecentTensors::Forget() noexcept {
  tensors_.clear();
  bytes_ = 0;
}

}  // namespace smdebug::hook
