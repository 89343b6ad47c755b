#include "tests/testing/object_store.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "smdebug/error.h"
#include "src/storage/key.h"

namespace smdebug::testing {
namespace {

constexpr size_t kPage = 1000;

Request RequestOf(Operation operation) {
  switch (operation) {
    case Operation::kRead:
      return Request::kGet;
    case Operation::kStat:
      return Request::kHead;
    case Operation::kList:
      return Request::kList;
    case Operation::kRemove:
      return Request::kDelete;
    case Operation::kMove:
      return Request::kCopy;
    default:
      return Request::kPut;
  }
}

// Parts are gathered on this side, and sent as one object by Publish().
class Upload final : public PendingFile {
 public:
  Upload(std::unique_ptr<PendingFile> object,
         std::shared_ptr<ObjectStore::Network> network)
      : object_(std::move(object)), network_(std::move(network)) {}

  void Append(std::span<const Bytes> parts) override { object_->Append(parts); }

  void Flush() override { object_->Flush(); }

  void Publish() override {
    network_->Send(Request::kPut);
    object_->Publish();
  }

 private:
  const std::unique_ptr<PendingFile> object_;
  const std::shared_ptr<ObjectStore::Network> network_;
};

}  // namespace

void ObjectStore::Network::Send(Request request, uint64_t at_once) {
  counts_[static_cast<size_t>(request)] += at_once;
  if (latency_.count() > 0) std::this_thread::sleep_for(latency_);
}

ObjectStore::ObjectStore(std::chrono::milliseconds latency)
    : WrappedStorage(OpenMemoryStorage()),
      network_(std::make_shared<Network>(latency)) {}

void ObjectStore::Before(Operation operation, std::string_view /*key*/) const {
  network_->Send(RequestOf(operation));
}

uint64_t ObjectStore::count(Request request) const noexcept {
  return network_->count(request);
}

uint64_t ObjectStore::count() const noexcept {
  uint64_t sum = 0;
  for (size_t i = 0; i < kRequests; ++i) sum += count(Request(i));
  return sum;
}

std::unique_ptr<PendingFile> ObjectStore::Create(std::string_view key,
                                                 CreateOptions options) {
  options.visibility = Visibility::kOnPublish;
  return std::make_unique<Upload>(inner().Create(key, options), network_);
}

std::vector<std::optional<Blob>> ObjectStore::ReadMany(
    std::span<const ReadRange> ranges) const {
  if (!ranges.empty()) network_->Send(Request::kGet, ranges.size());
  return inner().ReadMany(ranges);
}

std::vector<FileInfo> ObjectStore::List(std::string_view prefix,
                                        std::string_view start_after,
                                        size_t limit) const {
  std::vector<FileInfo> found;
  std::string after(start_after);
  while (found.size() < limit) {
    network_->Send(Request::kList);
    const size_t most = std::min(kPage, limit - found.size());
    const std::vector<FileInfo> page = inner().List(prefix, after, most);
    found.insert(found.end(), page.begin(), page.end());
    if (page.size() < kPage) break;
    after = page.back().key;
  }
  return found;
}

void ObjectStore::Move(std::string_view from, std::string_view to) {
  storage::CheckKey(to);
  network_->Send(Request::kCopy);
  const std::optional<Blob> object = inner().Read(from);
  if (!object) {
    throw IoError("move", root_ + '/' + std::string(from), IoKind::kMissing,
                  "404 Not Found");
  }
  if (from == to) return;
  const auto copy = inner().Create(to);
  copy->Append({&object->bytes, 1});
  copy->Publish();
  Remove(from);
}

std::unique_ptr<ChangeWatch> ObjectStore::Watch(
    std::span<const std::string_view> /*folders*/) const {
  return nullptr;
}

}  // namespace smdebug::testing
