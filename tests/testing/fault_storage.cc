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

  ~FaultFile() override {
    if (!published_) plan_->GiveSpace(taken_);
  }
  FaultFile(const FaultFile&) = delete;
  FaultFile& operator=(const FaultFile&) = delete;

  void Append(std::span<const Bytes> parts) override {
    Enter(Operation::kAppend);
    uint64_t bytes = 0;
    for (const Bytes part : parts) bytes += part.size();
    const uint64_t fitting = plan_->TakeSpace(bytes);
    taken_ += fitting;
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
    published_ = true;
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
  uint64_t taken_ = 0;
  bool published_ = false;
  int code_ = 0;
};

}  // namespace

std::unique_ptr<PendingFile> FaultStorage::Create(std::string_view key,
                                                  CreateOptions options) {
  return std::make_unique<FaultFile>(WrappedStorage::Create(key, options),
                                     plan_, root() + '/' + std::string(key));
}

void FaultStorage::Before(Operation operation, std::string_view key) const {
  plan_->Enter(operation, root() + '/' + std::string(key));
}

}  // namespace smdebug::testing
