#include <filesystem>
#include <utility>

#include "src/storage/file_system.h"
#include "tests/conformance/storage_conformance.h"
#include "tests/testing/temp_dir.h"

namespace smdebug::testing {
namespace {

// A storage and the folder it lies in. The root itself does not exist yet.
struct LocalStorageInTempDir {
  TempDir folder;
  std::shared_ptr<Storage> storage = OpenLocalStorage(folder / "new/root");
};

std::shared_ptr<Storage> OpenInTempDir() {
  auto local = std::make_shared<LocalStorageInTempDir>();
  Storage* storage = local->storage.get();
  return {std::move(local), storage};
}

const StorageDriver kDriver = {
    "local", OpenInTempDir,
    storage::InotifySeesAllOf(std::filesystem::temp_directory_path())};

INSTANTIATE_TEST_SUITE_P(Local, StorageConformanceTest,
                         ::testing::Values(kDriver));
INSTANTIATE_TEST_SUITE_P(Local, WatchConformanceTest,
                         ::testing::Values(kDriver));

}  // namespace
}  // namespace smdebug::testing
