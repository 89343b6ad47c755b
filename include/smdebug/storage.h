#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace smdebug {

using Bytes = std::span<const std::byte>;

// When the bytes of a new file can be seen by readers.
enum class Visibility {
  // At Publish(), all at once. The only choice for files of a run.
  kOnPublish,
  // As they are flushed, under the final key; for logs that are read while
  // they grow (TensorBoard). A store that cannot do it shows them at Publish().
  kWhileWriting,
};

// How hard Publish() works for the bytes to survive a power loss.
enum class Durability { kProcessCrash, kPowerLoss };

struct CreateOptions {
  Visibility visibility = Visibility::kOnPublish;
  Durability durability = Durability::kProcessCrash;
};

// A file being written. Destroying it before Publish() discards what is not
// visible yet. One thread at a time.
class PendingFile {
 public:
  virtual ~PendingFile() = default;

  // Appends the parts in order. Throws IoError; the file is then beyond use and
  // Publish() throws too.
  virtual void Append(std::span<const Bytes> parts) = 0;

  // Hands what was appended to the store. Makes it visible only under
  // kWhileWriting. Throws IoError.
  virtual void Flush() = 0;

  // Makes the whole file visible under its key, replacing any older one.
  // Call once. Throws IoError; the key then holds what it held before.
  virtual void Publish() = 0;
};

struct FileInfo {
  std::string key;
  uint64_t size = 0;
  // When the content was last written, in seconds since the epoch, by the clock
  // of the store. A move keeps it where the store can rename.
  double modified = 0;

  friend bool operator==(const FileInfo&, const FileInfo&) = default;
};

// A read-only piece of a file: bytes, and whatever keeps them alive.
struct Blob {
  Bytes bytes;
  std::shared_ptr<const void> owner;

  std::string_view text() const {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
};

// A small file as a whole, and which version of it that is.
struct VersionedText {
  std::string text;
  std::string version;  // Of no meaning but to ReplaceIfUnchanged().
};

// Bytes of one file, cut at its end; all of it by default.
struct ReadRange {
  std::string_view key;
  uint64_t offset = 0;
  uint64_t length = UINT64_MAX;
};

// Notices that published files of a store may have changed: that one came, was
// replaced, moved or removed. A file that can be seen while it is written
// counts when it comes and when it is published, not each time it grows.
// Pending files do not count.
//
// A watch that loses sight of the store later on reports a change each time it
// is asked, and Wait() takes a fraction of a second: its caller polls.
// Thread-safe.
class ChangeWatch {
 public:
  virtual ~ChangeWatch() = default;

  // How many changes there were so far, from 1 on. A List() after the call sees
  // what changed before it.
  virtual uint64_t Changes() = 0;

  // Waits until Changes() is not `known`, at most `timeout`, and returns
  // whether it is not. So a change is never missed by one thread because
  // another has asked in between.
  virtual bool Wait(uint64_t known, std::chrono::milliseconds timeout) = 0;
};

// Files under one root, by key: relative, '/'-separated, no empty, "." or ".."
// component, not empty, not ending in ".tmp" (the mark of pending files). A key
// that is not of this form throws std::invalid_argument.
//
// Every driver passes tests/conformance. Thread-safe.
class Storage {
 public:
  virtual ~Storage() = default;

  // Where the root is, for messages: a path or a URL.
  virtual const std::string& root() const = 0;

  // Starts a file. Missing parents are made. Throws IoError.
  virtual std::unique_ptr<PendingFile> Create(std::string_view key,
                                              CreateOptions options) = 0;
  std::unique_ptr<PendingFile> Create(std::string_view key) {
    return Create(key, CreateOptions{});
  }

  // Makes `key` with `content` if and only if it does not exist, and returns
  // whether it did. Of several callers at most one wins. The content is there
  // as soon as the file is. Throws IoError.
  virtual bool CreateExclusive(std::string_view key, Bytes content) = 0;

  // The whole of a small file; nullopt if there is no such file. Throws
  // IoError.
  virtual std::optional<VersionedText> ReadVersioned(
      std::string_view key) const = 0;

  // Replaces `key` by `content` if it is still what ReadVersioned() gave with
  // `version`, and returns whether it was. Of several callers with one version
  // at most one wins. Throws IoError.
  virtual bool ReplaceIfUnchanged(std::string_view key,
                                  std::string_view version, Bytes content) = 0;

  // The bytes [offset, offset + length) of `key`, cut at its end; nullopt if
  // there is no such file. Throws IoError.
  virtual std::optional<Blob> Read(std::string_view key, uint64_t offset,
                                   uint64_t length) const = 0;
  std::optional<Blob> Read(std::string_view key) const {
    return Read(key, 0, UINT64_MAX);
  }

  // Read() of each range, in their order. A store that is far away has them
  // under way at once; here they come one after another. Throws IoError if any
  // of them fails.
  virtual std::vector<std::optional<Blob>> ReadMany(
      std::span<const ReadRange> ranges) const;

  // What List() says about `key`; nullopt if there is no such file. Throws
  // IoError.
  virtual std::optional<FileInfo> Stat(std::string_view key) const = 0;

  // Published files whose key starts with `prefix` and sorts after
  // `start_after`, in key order, the first `limit` of them. Files still pending
  // are not listed. A root that does not exist is empty. Throws IoError.
  virtual std::vector<FileInfo> List(std::string_view prefix,
                                     std::string_view start_after,
                                     size_t limit) const = 0;
  std::vector<FileInfo> List(std::string_view prefix,
                             std::string_view start_after = {}) const {
    return List(prefix, start_after, SIZE_MAX);
  }

  // Removes `key`; nothing happens if there is no such file. Throws IoError.
  virtual void Remove(std::string_view key) = 0;

  // Gives a published file another key, replacing any older file there.
  // Atomic where the store can. Throws IoError, also if `from` is missing.
  virtual void Move(std::string_view from, std::string_view to) = 0;

  // Gives each published file whose key starts with `from` the key that starts
  // with `to` instead. All at once where the store can; else in key order, and
  // whoever is interrupted calls it again. Throws IoError.
  virtual void MoveAll(std::string_view from, std::string_view to);

  // From now on this object means the folder that is there now, whatever name
  // it is given: one that takes its place is not touched, and one that was
  // removed is not made again. Makes it if it is missing. To be called before
  // other threads use the object. Nothing happens where a root cannot move.
  // Throws IoError.
  virtual void Hold() {}

  // The first name on the way to `key`, a file or a folder, that is a symbolic
  // link, as a key; empty if none is, or if the store has no links. None of
  // them is followed.
  virtual std::string FindLink(std::string_view key) const;

  // Watches the files right below the root, and those at any depth below
  // `folders`, which are of the form of keys. Neither the root nor the folders
  // need to exist yet. nullptr where the store cannot tell; the caller has to
  // poll then. The watch may outlive the store.
  virtual std::unique_ptr<ChangeWatch> Watch(
      std::span<const std::string_view> folders) const = 0;
};

// Files under a local folder, which is made when the first file is written. "~"
// is expanded. Pending files are `<key>.tmp` beside their place. Throws IoError
// if `root` can never be a folder because a file is in the way.
std::shared_ptr<Storage> OpenLocalStorage(std::string_view root);

// Files in this process's memory, gone with the object.
std::shared_ptr<Storage> OpenMemoryStorage();

// The driver for `url`: a local path or file://path. Throws ConfigError for a
// scheme without a driver, naming the ones there are.
std::shared_ptr<Storage> OpenStorage(std::string_view url);

}  // namespace smdebug
