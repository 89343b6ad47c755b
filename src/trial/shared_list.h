#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <memory>
#include <span>
#include <utility>

// Lists that are values and share their memory: a copy costs the same whatever
// the list holds, and so does what is appended after it.
//
// There is one chain of copies that are changed, one thread at a time, in
// epochs. What a list held when an epoch began may be read through older copies
// meanwhile, by any thread, and stays as it is: it is copied before it is
// changed. What is new lies beyond what those copies see.
namespace smdebug::trial {

using Epoch = uint64_t;

// Elements side by side. T can be default-constructed and copied.
template <typename T>
class SharedChunk {
 public:
  uint32_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }
  const T* begin() const noexcept { return items_.get(); }
  const T* end() const noexcept { return items_.get() + size_; }
  const T& operator[](size_t i) const { return items_.get()[i]; }
  const T& back() const { return items_[size_ - 1]; }

  void Push(Epoch epoch, T item) {
    Begin(epoch);
    if (size_ == capacity_) Copy(std::max<uint32_t>(4, 2 * capacity_));
    items_[size_++] = std::move(item);
  }

  // Puts `item` before the one at `i`.
  void Insert(Epoch epoch, size_t i, T item) {
    Push(epoch, std::move(item));
    Own(i);
    std::rotate(items_.get() + i, items_.get() + size_ - 1,
                items_.get() + size_);
  }

  T& Change(Epoch epoch, size_t i) {
    Begin(epoch);
    Own(i);
    return items_.get()[i];
  }

  // The elements [first, last), as a list of its own.
  SharedChunk Part(Epoch epoch, size_t first, size_t last) const {
    SharedChunk part;
    for (size_t i = first; i < last; ++i) part.Push(epoch, items_.get()[i]);
    return part;
  }

 private:
  void Begin(Epoch epoch) {
    if (epoch_ == epoch) return;
    epoch_ = epoch;
    shared_ = size_;
  }
  void Own(size_t i) {
    if (i < shared_) Copy(capacity_);
  }
  void Copy(uint32_t capacity) {
    // libstdc++ 11 has no make_shared for arrays.
    std::shared_ptr<T[]> copy = std::make_unique<T[]>(capacity);
    std::copy(begin(), end(), copy.get());
    items_ = std::move(copy);
    capacity_ = capacity;
    shared_ = 0;
  }

  std::shared_ptr<T[]> items_;
  uint32_t size_ = 0;
  uint32_t capacity_ = 0;
  uint32_t shared_ = 0;  // So many may be seen by others.
  Epoch epoch_ = 0;      // Of the last change.
};

// Elements by number, of which the first can be dropped.
template <typename T, size_t kBlock = 256>
class SharedVector {
 public:
  size_t size() const noexcept {
    return (dropped_ + full_.size()) * kBlock + tail_.size();
  }
  const T& operator[](size_t i) const {
    const size_t block = i / kBlock - dropped_;
    return block < full_.size() ? full_[block][i % kBlock] : tail_[i % kBlock];
  }

  void Push(Epoch epoch, T item) {
    if (tail_.size() == kBlock) {
      full_.Push(epoch, std::exchange(tail_, {}));
    }
    tail_.Push(epoch, std::move(item));
  }

  T& Change(Epoch epoch, size_t i) {
    const size_t block = i / kBlock - dropped_;
    SharedChunk<T>& chunk =
        block < full_.size() ? full_.Change(epoch, block) : tail_;
    return chunk.Change(epoch, i % kBlock);
  }

  // Lets go of elements before `i`, as far as they can be let go. They must not
  // be asked for any more.
  void DropBefore(Epoch epoch, size_t i) {
    const size_t gone = std::min<size_t>(i / kBlock - dropped_, full_.size());
    full_ = full_.Part(epoch, gone, full_.size());
    dropped_ += gone;
  }

 private:
  SharedChunk<SharedChunk<T>> full_;
  SharedChunk<T> tail_;
  size_t dropped_ = 0;  // Blocks.
};

// Elements in the order of a key, and of insertion where it is the same. Those
// with one key lie side by side.
template <typename T, auto kKey>
class SharedSorted {
 public:
  static constexpr uint32_t kChunk = 256;

  // A place in the list. Valid as long as the list is, and unchanged.
  class Iterator {
   public:
    using value_type = T;
    using reference = const T&;
    using pointer = const T*;
    using difference_type = ptrdiff_t;
    using iterator_category = std::bidirectional_iterator_tag;

    Iterator() = default;
    Iterator(const SharedSorted* list, uint32_t chunk, uint32_t at)
        : list_(list), chunk_(chunk), at_(at) {}

    const T& operator*() const { return list_->chunk(chunk_)[at_]; }
    const T* operator->() const { return &**this; }
    Iterator& operator++() {
      if (++at_ == list_->chunk(chunk_).size() && !list_->IsTail(chunk_)) {
        ++chunk_;
        at_ = 0;
      }
      return *this;
    }
    Iterator operator++(int) {
      Iterator before = *this;
      ++*this;
      return before;
    }
    Iterator& operator--() {
      if (at_ == 0) at_ = list_->chunk(--chunk_).size();
      --at_;
      return *this;
    }
    Iterator operator--(int) {
      Iterator before = *this;
      --*this;
      return before;
    }
    friend bool operator==(const Iterator&, const Iterator&) = default;

   private:
    friend class SharedSorted;
    const SharedSorted* list_ = nullptr;
    uint32_t chunk_ = 0;
    uint32_t at_ = 0;
  };

  size_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }
  Iterator begin() const { return {this, 0, 0}; }
  Iterator end() const { return {this, sealed_.size(), tail_.size()}; }
  const T& back() const { return tail_.back(); }

  // The first whose key is `key` or later.
  Iterator LowerBound(int64_t key) const {
    const uint32_t c = FindChunk(key);
    const SharedChunk<T>& in = chunk(c);
    const T* it = std::ranges::lower_bound(in, key, {}, kKey);
    return {this, c, static_cast<uint32_t>(it - in.begin())};
  }

  // How many have a smaller key. Takes a little for each chunk.
  size_t CountBefore(int64_t key) const {
    const Iterator it = LowerBound(key);
    size_t count = it.at_;
    for (uint32_t c = 0; c < it.chunk_; ++c) count += chunk(c).size();
    return count;
  }

  // Those with that key.
  std::span<const T> At(int64_t key) const {
    const SharedChunk<T>& in = chunk(FindChunk(key));
    const auto* const first = std::ranges::lower_bound(in, key, {}, kKey);
    return {first, std::ranges::upper_bound(first, in.end(), key, {}, kKey)};
  }

  // The same; `near` is where to look first, and becomes the place after them.
  std::span<const T> At(int64_t key,
                        std::pair<uint32_t, uint32_t>& near) const {
    uint32_t c = near.first;
    uint32_t at = near.second;
    if (c < sealed_.size() && at == sealed_[c].size()) {
      ++c;
      at = 0;
    }
    const auto key_at = [&](uint32_t i) {
      return std::invoke(kKey, chunk(c)[i]);
    };
    const bool here =
        c <= sealed_.size() && at < chunk(c).size() && key_at(at) >= key &&
        (at > 0 ? key_at(at - 1) < key
                : c == 0 || std::invoke(kKey, sealed_[c - 1].back()) < key);
    if (!here) {
      const Iterator it = LowerBound(key);
      c = it.chunk_;
      at = it.at_;
    }
    const uint32_t first = at;
    while (at < chunk(c).size() && key_at(at) == key) ++at;
    near = {c, at};
    return {chunk(c).begin() + first, at - first};
  }

  const T* Find(int64_t key) const {
    const std::span<const T> found = At(key);
    return found.empty() ? nullptr : found.data();
  }

  // The first with that key, which there is, to be changed; not its key.
  T& Change(Epoch epoch, int64_t key) {
    const Iterator it = LowerBound(key);
    return Writable(epoch, it.chunk_).Change(epoch, it.at_);
  }

  void Insert(Epoch epoch, T item) {
    const int64_t key = std::invoke(kKey, item);
    ++size_;
    if (tail_.empty() || std::invoke(kKey, tail_.back()) <= key) {
      if (tail_.size() >= kChunk && std::invoke(kKey, tail_.back()) < key) {
        sealed_.Push(epoch, std::exchange(tail_, {}));
      }
      tail_.Push(epoch, std::move(item));
      return;
    }
    const uint32_t c = FindChunk(key);
    SharedChunk<T>& in = Writable(epoch, c);
    const T* it = std::ranges::upper_bound(in, key, {}, kKey);
    in.Insert(epoch, static_cast<size_t>(it - in.begin()), std::move(item));
    if (in.size() >= 2 * kChunk) Split(epoch, c);
  }

  // Keeps what `keep` says, of every element.
  template <typename Keep>
  void Filter(Epoch epoch, Keep keep) {
    SharedSorted kept;
    for (const T& item : *this) {
      if (keep(item)) kept.Insert(epoch, item);
    }
    *this = std::move(kept);
  }

 private:
  friend class Iterator;

  bool IsTail(uint32_t c) const { return c == sealed_.size(); }
  const SharedChunk<T>& chunk(uint32_t c) const {
    return IsTail(c) ? tail_ : sealed_[c];
  }
  SharedChunk<T>& Writable(Epoch epoch, uint32_t c) {
    return IsTail(c) ? tail_ : sealed_.Change(epoch, c);
  }

  // The first chunk that ends with `key` or later; the last if none does.
  uint32_t FindChunk(int64_t key) const {
    if (!tail_.empty() && std::invoke(kKey, tail_[0]) <= key) {
      return sealed_.size();
    }
    const auto last_key = [](const SharedChunk<T>& chunk) {
      return std::invoke(kKey, chunk.back());
    };
    return static_cast<uint32_t>(
        std::ranges::lower_bound(sealed_, key, {}, last_key) - sealed_.begin());
  }

  // Cuts a chunk that has grown where a key begins.
  void Split(Epoch epoch, uint32_t c) {
    const SharedChunk<T> whole = chunk(c);
    const int64_t middle = std::invoke(kKey, whole[whole.size() / 2]);
    const auto cut = static_cast<uint32_t>(
        std::ranges::lower_bound(whole, middle, {}, kKey) - whole.begin());
    if (cut == 0) return;
    SharedChunk<T> first = whole.Part(epoch, 0, cut);
    Writable(epoch, c) = whole.Part(epoch, cut, whole.size());
    sealed_.Insert(epoch, c, std::move(first));
  }

  SharedChunk<SharedChunk<T>> sealed_;  // None of them is empty.
  SharedChunk<T> tail_;
  size_t size_ = 0;
};

}  // namespace smdebug::trial
