#include "src/storage/local_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <utility>

#include "smdebug/error.h"
#include "src/storage/key.h"
#include "src/storage/posix_file.h"

namespace smdebug::storage {
namespace {

class LocalFile final : public PendingFile {
 public:
  LocalFile(const LocalRoot& root, std::string_view key, CreateOptions options)
      : root_(root), path_(root.PathOf(key)), key_(key), options_(options) {
    const bool opened = root_.At(key_, [&](const Place& place) {
      file_ = OpenFresh(place.folder.get(), WrittenName(place));
      return file_.valid();
    });
    if (!opened) ThrowIoError(root_, "create", path_, errno);
  }

  ~LocalFile() override {
    if (done_ || !renames()) return;
    struct stat status {};
    // A pending file that lost its name must not remove the new owner's.
    if (file_.valid() && !HasName(&status)) return;
    const Place place = root_.Find(key_);
    unlinkat(place.folder.get(), WrittenName(place).c_str(), 0);
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
    struct stat status {};
    if (renames()) {
      if (!HasName(&status)) {
        Fail("publish after its pending file was removed or replaced:", ESTALE);
      }
      MarkVersion(file_.get(), status);
    }
    if (durable && fsync(file_.get()) != 0) Fail("publish", errno);
    // Closing first: network file systems report failed writes here.
    const int code = file_.Close();
    if (code != 0) Fail("publish", code);
    if (renames() && !Rename()) Fail("publish", errno);
    done_ = true;
    if (durable) {
      const int sync_code = root_.Sync(key_);
      if (sync_code != 0) ThrowIoError("publish", path_, sync_code);
    }
  }

 private:
  bool renames() const noexcept {
    return options_.visibility == Visibility::kOnPublish;
  }

  std::string WrittenName(const Place& place) const {
    return renames() ? place.name + std::string(kPendingSuffix) : place.name;
  }

  // Whether the file written to still has a name; it is the pending name then.
  bool HasName(struct stat* status) const noexcept {
    return fstat(file_.get(), status) == 0 && status->st_nlink > 0;
  }

  bool Rename() const {
    const Place place = root_.Find(key_);
    const int folder = place.folder.get();
    return place.folder.valid() && renameat(folder, WrittenName(place).c_str(),
                                            folder, place.name.c_str()) == 0;
  }

  void RequireUsable(std::string_view operation) const {
    if (done_) throw std::logic_error(path_ + ": used after Publish()");
    if (code_ != 0) ThrowIoError(operation, path_, code_);
  }

  [[noreturn]] void Fail(std::string_view operation, int code) {
    code_ = code;
    ThrowIoError(root_, operation, path_, code);
  }

  const LocalRoot root_;
  const std::string path_;
  const std::string key_;
  const CreateOptions options_;
  base::Fd file_;
  int code_ = 0;  // Of the first failure; nothing works after it.
  bool done_ = false;
};

}  // namespace

std::unique_ptr<PendingFile> CreateLocalFile(const LocalRoot& root,
                                             std::string_view key,
                                             CreateOptions options) {
  return std::make_unique<LocalFile>(root, key, options);
}

}  // namespace smdebug::storage
