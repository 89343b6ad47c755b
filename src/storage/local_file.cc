#include "src/storage/local_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <stdexcept>
#include <utility>

#include "smdebug/error.h"
#include "src/storage/key.h"
#include "src/storage/posix_file.h"

namespace smdebug::storage {
namespace {

class LocalFile final : public PendingFile {
 public:
  LocalFile(const std::string& path, const std::string& root,
            CreateOptions options)
      : path_(path),
        root_(root),
        options_(options),
        written_path_(renames() ? path + std::string(kPendingSuffix) : path),
        file_(OpenFresh(written_path_)) {}

  ~LocalFile() override {
    if (done_ || !renames()) return;
    // A pending file that lost its name must not remove the new owner's.
    if (!file_.valid() || HasName()) unlink(written_path_.c_str());
  }

  LocalFile(const LocalFile&) = delete;
  LocalFile& operator=(const LocalFile&) = delete;

  void Append(std::span<const Bytes> parts) override {
    RequireUsable("write");
    const int code = WriteAll(file_.get(), parts);
    if (code != 0) Fail("write", code);
  }

  // Append() has handed everything to the kernel already.
  void Flush() override { RequireUsable("write"); }

  void Publish() override {
    RequireUsable("publish");
    const bool durable = options_.durability == Durability::kPowerLoss;
    if (renames() && !HasName()) {
      Fail("publish after its pending file was removed or replaced:", ESTALE);
    }
    if (durable && fsync(file_.get()) != 0) Fail("publish", errno);
    // Closing first: network file systems report failed writes here.
    const int code = file_.Close();
    if (code != 0) Fail("publish", code);
    if (renames() && std::rename(written_path_.c_str(), path_.c_str()) != 0) {
      Fail("publish", errno);
    }
    done_ = true;
    if (durable) {
      const int sync_code = SyncFolders(path_, root_);
      if (sync_code != 0) throw IoError("publish", path_, sync_code);
    }
  }

 private:
  bool renames() const noexcept {
    return options_.visibility == Visibility::kOnPublish;
  }

  // Whether the file written to still has a name; it is the pending name then.
  bool HasName() const noexcept {
    struct stat status {};
    return fstat(file_.get(), &status) == 0 && status.st_nlink > 0;
  }

  void RequireUsable(std::string_view operation) const {
    if (done_) throw std::logic_error(path_ + ": used after Publish()");
    if (code_ != 0) throw IoError(operation, path_, code_);
  }

  [[noreturn]] void Fail(std::string_view operation, int code) {
    code_ = code;
    throw IoError(operation, path_, code);
  }

  const std::string path_;
  const std::string root_;
  const CreateOptions options_;
  const std::string written_path_;
  FileDescriptor file_;
  int code_ = 0;  // Of the first failure; nothing works after it.
  bool done_ = false;
};

}  // namespace

std::unique_ptr<PendingFile> CreateLocalFile(const std::string& path,
                                             const std::string& root,
                                             CreateOptions options) {
  return std::make_unique<LocalFile>(path, root, options);
}

}  // namespace smdebug::storage
