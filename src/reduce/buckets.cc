#include "src/reduce/buckets.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>

namespace smdebug::reduce {
namespace {

constexpr double kFirstEdge = 1e-12;
constexpr double kGrowth = 1.1;
constexpr double kEdgeLimit = 1e20;

// 1e-12 lies above 2^-40 and 1e20 below 2^67.
constexpr int kLeastExponent = -41;
constexpr int kMostExponent = 67;
constexpr int kCellBits = 4;

constexpr size_t kHalfCells =
    (size_t{kMostExponent - kLeastExponent} << kCellBits) + 1;

std::vector<double> MakeEdges() {
  std::vector<double> positive;
  double edge = kFirstEdge;
  while (edge < kEdgeLimit) {
    positive.push_back(edge);
    edge *= kGrowth;
  }
  std::vector<double> edges;
  for (size_t i = positive.size(); i-- > 0;) edges.push_back(-positive[i]);
  edges.push_back(0);
  edges.insert(edges.end(), positive.begin(), positive.end());
  return edges;
}

template <typename T>
using BitsOf = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;

// From the bits of a magnitude to sign-less cells, of which number 0 reaches
// down to zero and the last up to infinity.
template <typename T>
constexpr int kCellShift = std::numeric_limits<T>::digits - 1 - kCellBits;

template <typename T>
constexpr BitsOf<T> kFirstCell =
    static_cast<BitsOf<T>>(kLeastExponent +
                           std::numeric_limits<T>::max_exponent - 1)
    << kCellBits;

template <typename T>
T RoundUp(double value) {
  const T rounded = static_cast<T>(value);
  if (static_cast<double>(rounded) >= value) return rounded;
  return std::nextafter(rounded, std::numeric_limits<T>::infinity());
}

}  // namespace

std::span<const double> BucketEdges() {
  static const std::vector<double> kEdges = MakeEdges();
  return kEdges;
}

size_t BucketOf(double value) {
  const std::span<const double> edges = BucketEdges();
  const auto right = std::ranges::upper_bound(edges, value) - edges.begin();
  return static_cast<size_t>(
      std::clamp<ptrdiff_t>(right - 1, 0, ptrdiff_t{kBuckets} - 1));
}

template <typename T>
std::vector<typename BucketCounter<T>::Cell> BucketCounter<T>::MakeCells() {
  constexpr T kInf = std::numeric_limits<T>::infinity();
  std::vector<Cell> cells;
  for (const T sign : {T{1}, T{-1}}) {
    for (size_t cell = 0; cell < kHalfCells; ++cell) {
      const auto bits = static_cast<BitsOf<T>>(kFirstCell<T> + cell);
      const T begin =
          cell == 0 ? T{0} : std::bit_cast<T>(bits << kCellShift<T>);
      const T end = cell == kHalfCells - 1
                        ? kInf
                        : std::bit_cast<T>((bits + 1) << kCellShift<T>);
      const auto [least, most] =
          std::minmax({sign * begin, sign * std::nextafter(end, T{0})});
      const size_t bucket = BucketOf(least);
      const size_t last = BucketOf(most);
      const T edge = last == bucket ? kInf : RoundUp<T>(BucketEdges()[last]);
      cells.push_back({edge, static_cast<uint32_t>(bucket)});
    }
  }
  return cells;
}

template <typename T>
BucketCounter<T>::BucketCounter()
    : cells_([] {
        static const std::vector<Cell> kCells = MakeCells();
        return kCells.data();
      }()) {}

template <typename T>
size_t BucketCounter<T>::CellOf(T value) noexcept {
  using Bits = BitsOf<T>;
  constexpr int kSignShift = 8 * static_cast<int>(sizeof(T)) - 1;
  const auto bits = std::bit_cast<Bits>(value);
  const Bits magnitude = (bits & ~(Bits{1} << kSignShift)) >> kCellShift<T>;
  const Bits cell = std::clamp<Bits>(magnitude, kFirstCell<T>,
                                     kFirstCell<T> + kHalfCells - 1) -
                    kFirstCell<T>;
  return static_cast<size_t>(cell + (bits >> kSignShift) * kHalfCells);
}

template <typename T>
void BucketCounter<T>::Add(std::span<const T> values) noexcept {
  const auto add = [this](T value, auto& counts) {
    const Cell& cell = cells_[CellOf(value)];
    ++counts[cell.bucket + (value >= cell.edge ? 1u : 0u)];
  };
  size_t i = 0;
  for (; i + 2 <= values.size(); i += 2) {
    add(values[i], counts_[0]);
    add(values[i + 1], counts_[1]);
  }
  if (i < values.size()) add(values[i], counts_[0]);
}

template class BucketCounter<float>;
template class BucketCounter<double>;

}  // namespace smdebug::reduce
