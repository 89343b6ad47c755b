#include "tests/testing/fault_storage.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "smdebug/error.h"

namespace smdebug::testing {
namespace {

class FaultFile final : public PendingFile {
 public:
  FaultFile(std::unique_ptr<PendingFile> inner, std::shared_ptr<FaultPlan> plan,
            std::string path)
      : inner_(std::move(inner)),
        plan_(std::move(plan)),
        path_(std::move(path)) {}

  void Append(std::span<const Bytes> parts) override {
    Enter(Operation::kAppend);
    uint64_t bytes = 0;
    for (const Bytes part : parts) bytes += part.size();
    const uint64_t fitting = plan_->TakeSpace(bytes);
    if (fitting == bytes) {
      inner_->Append(parts);
      return;
    }
    code_ = ENOSPC;
    uint64_t left = fitting;
    for (const Bytes part : parts) {
      const Bytes kept = part.first(std::min<uint64_t>(part.size(), left));
      inner_->Append({&kept, 1});
      left -= kept.size();
    }
    inner_->Flush();  // What fitted is as visible as it would be on a disk.
    throw IoError("write", path_, code_);
  }

  void Flush() override {
    Enter(Operation::kFlush);
    inner_->Flush();
  }

  void Publish() override {
    Enter(Operation::kPublish);
    inner_->Publish();
  }

 private:
  // A file is beyond use after its first failure.
  void Enter(Operation operation) {
    try {
      plan_->Enter(operation, path_);
    } catch (const IoError& error) {
      code_ = error.code();
      throw;
    }
    if (code_ != 0) throw IoError("write", path_, code_);
  }

  const std::unique_ptr<PendingFile> inner_;
  const std::shared_ptr<FaultPlan> plan_;
  const std::string path_;
  int code_ = 0;
};

}  // namespace

FaultStorage::FaultStorage(std::shared_ptr<Storage> inner)
    : inner_(std::move(inner)) {}

std::unique_ptr<PendingFile> FaultStorage::Create(std::string_view key,
                                                  CreateOptions options) {
  const std::string path = PathOf(key);
  plan_->Enter(Operation::kCreate, path);
  return std::make_unique<FaultFile>(inner_->Create(key, options), plan_, path);
}

bool FaultStorage::CreateExclusive(std::string_view key, Bytes content) {
  plan_->Enter(Operation::kCreateExclusive, PathOf(key));
  return inner_->CreateExclusive(key, content);
}

std::optional<VersionedText> FaultStorage::ReadVersioned(
    std::string_view key) const {
  plan_->Enter(Operation::kRead, PathOf(key));
  return inner_->ReadVersioned(key);
}

bool FaultStorage::ReplaceIfUnchanged(std::string_view key,
                                      std::string_view version, Bytes content) {
  plan_->Enter(Operation::kReplace, PathOf(key));
  return inner_->ReplaceIfUnchanged(key, version, content);
}

std::optional<Blob> FaultStorage::Read(std::string_view key, uint64_t offset,
                                       uint64_t length) const {
  plan_->Enter(Operation::kRead, PathOf(key));
  return inner_->Read(key, offset, length);
}

std::optional<FileInfo> FaultStorage::Stat(std::string_view key) const {
  plan_->Enter(Operation::kStat, PathOf(key));
  return inner_->Stat(key);
}

std::vector<FileInfo> FaultStorage::List(std::string_view prefix,
                                         std::string_view start_after,
                                         size_t limit) const {
  plan_->Enter(Operation::kList, PathOf(prefix));
  return inner_->List(prefix, start_after, limit);
}

void FaultStorage::Remove(std::string_view key) {
  plan_->Enter(Operation::kRemove, PathOf(key));
  inner_->Remove(key);
}

void FaultStorage::Move(std::string_view from, std::string_view to) {
  plan_->Enter(Operation::kMove, PathOf(from));
  inner_->Move(from, to);
}

std::string FaultStorage::PathOf(std::string_view key) const {
  return root() + '/' + std::string(key);
}

}  // namespace smdebug::testing
