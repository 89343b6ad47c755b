#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "smdebug/storage.h"
#include "tests/testing/wrapped_storage.h"

namespace smdebug::testing {

// What an object store is asked for over the network.
enum class Request { kPut, kGet, kHead, kList, kCopy, kDelete };
inline constexpr size_t kRequests = 6;

// A storage in memory that can do what an object store can, and no more: an
// object appears whole when it is published and is never appended to, a move
// copies and removes, lists come in pages of a thousand, nobody tells of
// changes, and each request takes its time. Creation and replacement can have a
// condition. Thread-safe.
class ObjectStore final : public WrappedStorage {
 public:
  explicit ObjectStore(std::chrono::milliseconds latency = {});

  // Requests of one kind so far, and of all.
  uint64_t count(Request request) const noexcept;
  uint64_t count() const noexcept;

  const std::string& root() const override { return root_; }

  using WrappedStorage::Create;
  using WrappedStorage::List;
  std::unique_ptr<PendingFile> Create(std::string_view key,
                                      CreateOptions options) override;
  // Each is a request; all are under way at once.
  std::vector<std::optional<Blob>> ReadMany(
      std::span<const ReadRange> ranges) const override;
  std::vector<FileInfo> List(std::string_view prefix,
                             std::string_view start_after,
                             size_t limit) const override;
  void Move(std::string_view from, std::string_view to) override;
  std::unique_ptr<ChangeWatch> Watch(
      std::span<const std::string_view> folders) const override;

  // The network between: counts requests and holds each up.
  class Network {
   public:
    explicit Network(std::chrono::milliseconds latency) : latency_(latency) {}

    void Send(Request request, uint64_t at_once = 1);
    uint64_t count(Request request) const noexcept {
      return counts_[static_cast<size_t>(request)];
    }

   private:
    const std::chrono::milliseconds latency_;
    std::array<std::atomic<uint64_t>, kRequests> counts_{};
  };

 private:
  void Before(Operation operation, std::string_view key) const override;

  const std::string root_ = "object://bucket/run";
  const std::shared_ptr<Network> network_;
};

}  // namespace smdebug::testing
