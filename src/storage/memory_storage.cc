#include <atomic>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include "smdebug/error.h"
#include "smdebug/storage.h"
#include "src/base/bytes.h"
#include "src/base/clock.h"
#include "src/base/mutex.h"
#include "src/storage/key.h"
#include "src/storage/memory_watch.h"

namespace smdebug {
namespace {

// A published file. Never changed: a new version is a new object, so that a
// Blob keeps the bytes it was given.
struct Published {
  std::string bytes;
  double modified = base::WallSeconds();
  uint64_t number = NextNumber();

  static uint64_t NextNumber() {
    static std::atomic<uint64_t> last{0};
    return ++last;
  }
};
using Content = std::shared_ptr<const Published>;

Content Publication(std::string bytes) {
  return std::make_shared<const Published>(Published{std::move(bytes)});
}

std::string VersionOf(const Published& file) {
  return std::to_string(file.number);
}

FileInfo InfoOf(std::string_view key, const Published& file) {
  return {std::string(key), file.bytes.size(), file.modified};
}

// Shared with pending files, which may outlive their storage. Thread-safe.
class FileTable {
 public:
  void Put(const std::string& key, std::string content) {
    Show(key, std::move(content));
    feed_.Report(key);
  }

  // As Put(), for a file that goes on growing: only its appearance is reported.
  void PutGrowing(const std::string& key, std::string content) {
    if (Show(key, std::move(content))) feed_.Report(key);
  }

  bool PutNew(std::string_view key, std::string_view content) {
    Content file = Publication(std::string(content));
    {
      const base::MutexLock lock(mu_);
      const auto added = files_.try_emplace(std::string(key), std::move(file));
      if (!added.second) return false;
    }
    feed_.Report(key);
    return true;
  }

  // False if `key` is not the file that `version` is of.
  bool PutIf(std::string_view key, std::string_view version,
             std::string_view content) {
    Content file = Publication(std::string(content));
    {
      const base::MutexLock lock(mu_);
      const auto it = files_.find(key);
      if (it == files_.end() || VersionOf(*it->second) != version) return false;
      it->second = std::move(file);
    }
    feed_.Report(key);
    return true;
  }

  // Null if there is no such file.
  Content Get(std::string_view key) const {
    const base::MutexLock lock(mu_);
    const auto file = files_.find(key);
    return file == files_.end() ? nullptr : file->second;
  }

  std::vector<FileInfo> List(std::string_view prefix,
                             std::string_view start_after, size_t limit) const {
    std::vector<FileInfo> found;
    const base::MutexLock lock(mu_);
    auto file = start_after < prefix ? files_.lower_bound(prefix)
                                     : files_.upper_bound(start_after);
    for (; found.size() < limit && file != files_.end() &&
           file->first.starts_with(prefix);
         ++file) {
      found.push_back(InfoOf(file->first, *file->second));
    }
    return found;
  }

  void Erase(std::string_view key) {
    {
      const base::MutexLock lock(mu_);
      const auto file = files_.find(key);
      if (file == files_.end()) return;
      files_.erase(file);
    }
    feed_.Report(key);
  }

  // False if there is no file `from`.
  bool Rename(std::string_view from, std::string_view to) {
    {
      const base::MutexLock lock(mu_);
      const auto file = files_.find(from);
      if (file == files_.end()) return false;
      if (from == to) return true;
      Content content = std::move(file->second);
      files_.erase(file);
      files_.insert_or_assign(std::string(to), std::move(content));
    }
    feed_.Report(from);
    feed_.Report(to);
    return true;
  }

  std::unique_ptr<ChangeWatch> Watch(storage::WatchedFolders folders) {
    return feed_.Watch(std::move(folders));
  }

 private:
  // Whether the key is new.
  bool Show(const std::string& key, std::string content) {
    Content file = Publication(std::move(content));
    const base::MutexLock lock(mu_);
    return files_.insert_or_assign(key, std::move(file)).second;
  }

  mutable base::Mutex mu_;
  std::map<std::string, Content, std::less<>> files_ SMDEBUG_GUARDED_BY(mu_);
  storage::ChangeFeed feed_;  // Told after the change, without holding mu_.
};

class MemoryFile final : public PendingFile {
 public:
  MemoryFile(std::shared_ptr<FileTable> table, std::string_view key,
             Visibility visibility)
      : table_(std::move(table)), key_(key), visibility_(visibility) {}

  void Append(std::span<const Bytes> parts) override {
    RequireOpen();
    for (const Bytes part : parts) content_ += base::AsText(part);
  }

  void Flush() override {
    RequireOpen();
    if (visibility_ == Visibility::kWhileWriting) {
      table_->PutGrowing(key_, content_);
    }
  }

  void Publish() override {
    RequireOpen();
    table_->Put(key_, std::move(content_));
    published_ = true;
  }

 private:
  void RequireOpen() const {
    if (published_) throw std::logic_error(key_ + ": used after Publish()");
  }

  const std::shared_ptr<FileTable> table_;
  const std::string key_;
  const Visibility visibility_;
  std::string content_;
  bool published_ = false;
};

class MemoryStorage final : public Storage {
 public:
  const std::string& root() const override { return root_; }

  std::unique_ptr<PendingFile> Create(std::string_view key,
                                      CreateOptions options) override {
    storage::CheckKey(key);
    return std::make_unique<MemoryFile>(table_, key, options.visibility);
  }

  bool CreateExclusive(std::string_view key, Bytes content) override {
    storage::CheckKey(key);
    return table_->PutNew(key, base::AsText(content));
  }

  std::optional<VersionedText> ReadVersioned(
      std::string_view key) const override {
    storage::CheckKey(key);
    const Content content = table_->Get(key);
    if (content == nullptr) return std::nullopt;
    return VersionedText{content->bytes, VersionOf(*content)};
  }

  bool ReplaceIfUnchanged(std::string_view key, std::string_view version,
                          Bytes content) override {
    storage::CheckKey(key);
    return table_->PutIf(key, version, base::AsText(content));
  }

  std::optional<Blob> Read(std::string_view key, uint64_t offset,
                           uint64_t length) const override {
    storage::CheckKey(key);
    Content content = table_->Get(key);
    if (content == nullptr) return std::nullopt;
    const Bytes whole = base::AsBytes(content->bytes);
    const Bytes rest = whole.subspan(std::min<uint64_t>(offset, whole.size()));
    return Blob{rest.first(std::min<uint64_t>(length, rest.size())),
                std::move(content)};
  }

  std::optional<FileInfo> Stat(std::string_view key) const override {
    storage::CheckKey(key);
    const Content content = table_->Get(key);
    if (content == nullptr) return std::nullopt;
    return InfoOf(key, *content);
  }

  std::vector<FileInfo> List(std::string_view prefix,
                             std::string_view start_after,
                             size_t limit) const override {
    return table_->List(prefix, start_after, limit);
  }

  void Remove(std::string_view key) override {
    storage::CheckKey(key);
    table_->Erase(key);
  }

  void Move(std::string_view from, std::string_view to) override {
    storage::CheckKey(from);
    storage::CheckKey(to);
    if (!table_->Rename(from, to)) {
      throw IoError("move", root_ + std::string(from), ENOENT);
    }
  }

  std::unique_ptr<ChangeWatch> Watch(
      std::span<const std::string_view> folders) const override {
    return table_->Watch(storage::WatchedFolders(folders));
  }

 private:
  const std::string root_ = "memory://";
  const std::shared_ptr<FileTable> table_ = std::make_shared<FileTable>();
};

}  // namespace

std::shared_ptr<Storage> OpenMemoryStorage() {
  return std::make_shared<MemoryStorage>();
}

}  // namespace smdebug
