#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "smdebug/storage.h"

namespace smdebug::testing {

// What a storage is asked for, one per call of Storage and PendingFile.
enum class Operation {
  kCreate,
  kCreateExclusive,
  kAppend,
  kFlush,
  kPublish,
  kRead,
  kStat,
  kList,
  kRemove,
  kMove,
  kReplace,
};
inline constexpr size_t kOperations = 11;

// Is another storage, but for what Before() does first, and for what a class
// below it overrides. As thread-safe as these.
class WrappedStorage : public Storage {
 public:
  explicit WrappedStorage(std::shared_ptr<Storage> inner)
      : inner_(std::move(inner)) {}

  // The storage behind, reached without Before().
  Storage& inner() const noexcept { return *inner_; }

  const std::string& root() const override { return inner_->root(); }

  using Storage::Create;
  using Storage::List;
  using Storage::Read;
  std::unique_ptr<PendingFile> Create(std::string_view key,
                                      CreateOptions options) override {
    Before(Operation::kCreate, key);
    return inner_->Create(key, options);
  }
  bool CreateExclusive(std::string_view key, Bytes content) override {
    Before(Operation::kCreateExclusive, key);
    return inner_->CreateExclusive(key, content);
  }
  std::optional<VersionedText> ReadVersioned(
      std::string_view key) const override {
    Before(Operation::kRead, key);
    return inner_->ReadVersioned(key);
  }
  bool ReplaceIfUnchanged(std::string_view key, std::string_view version,
                          Bytes content) override {
    Before(Operation::kReplace, key);
    return inner_->ReplaceIfUnchanged(key, version, content);
  }
  std::optional<Blob> Read(std::string_view key, uint64_t offset,
                           uint64_t length) const override {
    Before(Operation::kRead, key);
    return inner_->Read(key, offset, length);
  }
  std::optional<FileInfo> Stat(std::string_view key) const override {
    Before(Operation::kStat, key);
    return inner_->Stat(key);
  }
  std::vector<FileInfo> List(std::string_view prefix,
                             std::string_view start_after,
                             size_t limit) const override {
    Before(Operation::kList, prefix);
    return inner_->List(prefix, start_after, limit);
  }
  void Remove(std::string_view key) override {
    Before(Operation::kRemove, key);
    inner_->Remove(key);
  }
  void Move(std::string_view from, std::string_view to) override {
    Before(Operation::kMove, from);
    inner_->Move(from, to);
  }
  void Hold() override { inner_->Hold(); }
  std::string FindLink(std::string_view key) const override {
    return inner_->FindLink(key);
  }
  std::unique_ptr<ChangeWatch> Watch(
      std::span<const std::string_view> folders) const override {
    return inner_->Watch(folders);
  }

 private:
  // Called with each operation on `key` before it reaches the inner storage,
  // which it does not if this throws.
  virtual void Before(Operation operation, std::string_view key) const = 0;

  const std::shared_ptr<Storage> inner_;
};

}  // namespace smdebug::testing
