#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include <torch/torch.h>

#include "smdebug/internal/arriving.h"

namespace smdebug::internal {

// Reduces tensors of one device there, to rows of PartStatistics: small ones
// all together, large ones where they are.
//
// One thread at a time.
class TorchRows {
 public:
  explicit TorchRows(torch::Device device) {
    try {
      torch::zeros({1}, torch::TensorOptions(torch::kDouble).device(device));
    } catch (const c10::Error&) {
      wide_ = torch::kFloat;  // It has no other.
    }
  }

  // Whether it makes of tensors of `type` what the core does.
  bool CanReduce(torch::ScalarType type) const {
    switch (type) {
      case torch::kHalf:
      case torch::kBFloat16:
      case torch::kFloat:
      case torch::kDouble:
        return true;
      case torch::kBool:
      case torch::kByte:
      case torch::kChar:
      case torch::kShort:
      case torch::kInt:
      case torch::kLong:
        return wide_ == torch::kDouble;
      default:
        return false;
    }
  }

  // Takes a flat tensor that is not empty, and gives its number. It may change
  // afterwards.
  size_t Add(const torch::Tensor& flat, bool deviations) {
    const size_t number = parts_.size();
    parts_.emplace_back();
    torch::Tensor rest = flat;
    if (flat.numel() > kMostPacked) {
      const int64_t whole = flat.numel() / kLargeWidth * kLargeWidth;
      const auto blocks = flat.narrow(0, 0, whole)
                              .view({-1, kLargeWidth})
                              .split(kMostAtOnce / kLargeWidth);
      for (const torch::Tensor& block : blocks) {
        parts_[number].push_back({count_, block.numel(), kLargeWidth});
        AddBlock(block, {}, deviations);
      }
      rest = flat.narrow(0, whole, flat.numel() - whole);
    }
    if (rest.numel() != 0) {
      auto& group = gathered_[{rest.scalar_type(), deviations}];
      group.tensors.emplace_back(number, rest.clone());
      group.count += rest.numel() + kPackedWidth;
      if (group.count >= kMostAtOnce) Pack(group, deviations);
    }
    return number;
  }

  // Tensors that are yet to be reduced.
  std::vector<torch::Tensor> gathered() const {
    std::vector<torch::Tensor> all = rows_;
    for (const auto& [kind, group] : gathered_) {
      for (const auto& [number, tensor] : group.tensors) all.push_back(tensor);
    }
    return all;
  }

  // All rows; undefined if there are none.
  torch::Tensor Reduce() {
    for (auto& [kind, group] : gathered_) Pack(group, kind.second);
    return rows_.empty() ? torch::Tensor() : torch::cat(rows_);
  }

  // Where the rows of a tensor are, once they have been copied to `host`.
  std::vector<Parts> PartsOf(size_t number, const torch::Tensor& host) const {
    const bool has_floats = wide_ == torch::kFloat;
    const size_t width = has_floats ? sizeof(float) : sizeof(double);
    const auto* bytes = static_cast<const std::byte*>(host.data_ptr());
    std::vector<Parts> parts;
    for (const Place& place : parts_[number]) {
      const auto offset = static_cast<size_t>(place.first_row) * kColumns;
      parts.push_back({.rows = bytes + offset * width,
                       .has_floats = has_floats,
                       .elements = place.elements,
                       .width = place.width});
    }
    return parts;
  }

  // The next tensor is the first again.
  void Forget() {
    rows_.clear();
    parts_.clear();
    count_ = 0;
  }

 private:
  // Elements of a row: of tensors that are packed, and of larger ones.
  static constexpr int64_t kPackedWidth = 1 << 9;
  static constexpr int64_t kLargeWidth = 1 << 16;
  static constexpr int64_t kMostPacked = 1 << 20;
  // So many are converted at a time.
  static constexpr int64_t kMostAtOnce = 1 << 22;
  static constexpr size_t kColumns = sizeof(PartStatistics) / sizeof(double);

  struct Place {
    int64_t first_row;
    int64_t elements;
    int64_t width;
  };

  struct Group {
    std::vector<std::pair<size_t, torch::Tensor>> tensors;
    int64_t count = 0;  // Elements, with room for filling up.
  };

  void Pack(Group& group, bool deviations) {
    const auto tensors = std::exchange(group.tensors, {});
    group.count = 0;
    if (tensors.empty()) return;
    const auto options = tensors[0].second.options();
    const auto filler = torch::zeros({}, options);
    const auto yes = torch::ones({}, options.dtype(torch::kBool));
    const auto no = torch::zeros({}, options.dtype(torch::kBool));
    std::vector<torch::Tensor> pieces;
    std::vector<torch::Tensor> mask;
    int64_t row = count_;
    for (const auto& [number, tensor] : tensors) {
      const int64_t size = tensor.numel();
      const int64_t rows = (size + kPackedWidth - 1) / kPackedWidth;
      const int64_t missing = rows * kPackedWidth - size;
      pieces.insert(pieces.end(), {tensor, filler.expand({missing})});
      mask.insert(mask.end(), {yes.expand({size}), no.expand({missing})});
      parts_[number].push_back({row, size, kPackedWidth});
      row += rows;
    }
    AddBlock(torch::cat(pieces).view({-1, kPackedWidth}),
             torch::cat(mask).view({-1, kPackedWidth}), deviations);
  }

  // Adds a row for each of `block`; where `mask` is false there is a 0 that is
  // none. Without a mask all count.
  void AddBlock(const torch::Tensor& block, const torch::Tensor& mask,
                bool deviations) {
    const auto x = block.to(wide_);
    const auto magnitudes = x.abs();
    const double infinity = std::numeric_limits<double>::infinity();
    const auto count = [this](const torch::Tensor& is) {
      return is.sum(1, /*keepdim=*/false, wide_);
    };
    const auto others = [&](const torch::Tensor& values, double instead) {
      return mask.defined() ? values.masked_fill(mask.logical_not(), instead)
                            : values;
    };
    const auto zero = mask.defined() ? (x == 0).logical_and(mask) : x == 0;
    const auto sums = x.sum(1);
    const auto magnitude_sums = magnitudes.sum(1);
    auto spread = torch::zeros_like(sums);
    auto magnitude_spread = spread;
    if (deviations) {
      const auto elements =
          mask.defined()
              ? count(mask)
              : torch::full_like(sums, static_cast<double>(block.size(1)));
      const auto from_mean = [&](const torch::Tensor& values,
                                 const torch::Tensor& total) {
        const auto away = others(values - (total / elements).unsqueeze(1), 0.0);
        return (away * away).sum(1);
      };
      spread = from_mean(x, sums);
      magnitude_spread = from_mean(magnitudes, magnitude_sums);
    }
    rows_.push_back(torch::stack(
        {count(x != x), count(x == infinity), count(x == -infinity),
         count(zero), others(x, infinity).amin(1), others(x, -infinity).amax(1),
         others(magnitudes, infinity).amin(1), sums, magnitude_sums,
         (x * x).sum(1), spread, magnitude_spread},
        1));
    count_ += block.size(0);
  }

  torch::ScalarType wide_ = torch::kDouble;
  std::map<std::pair<torch::ScalarType, bool>, Group> gathered_;
  std::vector<std::vector<Place>> parts_;
  std::vector<torch::Tensor> rows_;
  int64_t count_ = 0;
};

}  // namespace smdebug::internal
