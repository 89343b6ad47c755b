#pragma once

#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "smdebug/storage.h"
#include "tests/testing/onlooker.h"

namespace smdebug::testing {

// A driver to be tested: makes storages that are empty and independent of each
// other. `open` may return a storage whose deleter removes what lies behind it.
struct StorageDriver {
  std::string name;
  std::function<std::shared_ptr<Storage>()> open;
  // Whether Watch() is to give a watch.
  bool watches = true;
  // Whether files can be seen as they grow.
  bool grows = true;
  // Whether a move keeps the time of a file.
  bool renames = true;
};

inline void PrintTo(const StorageDriver& driver, std::ostream* out) {
  *out << driver.name;
}

// Adds one to the number in `key` by conditional replacement.
void AddOne(Storage& storage, std::string_view key);

// What every Storage promises. A driver joins with
//
//   INSTANTIATE_TEST_SUITE_P(
//       Memory, StorageConformanceTest,
//       ::testing::Values(StorageDriver{"memory", [] { return ...; }}));
class StorageConformanceTest : public ::testing::TestWithParam<StorageDriver> {
 protected:
  const std::shared_ptr<Storage> storage_ = GetParam().open();
};

// What every ChangeWatch promises. Joined in the same way.
class WatchConformanceTest : public StorageConformanceTest {
 protected:
  void SetUp() override {
    if (!GetParam().watches) GTEST_SKIP() << "the store cannot tell";
    watch_ = Watch();
    ASSERT_NE(watch_, nullptr);
  }

  std::unique_ptr<Onlooker> Watch() const {
    static constexpr std::string_view kFolders[] = {"index", "deep/inside"};
    return Onlooker::Of(storage_->Watch(kFolders));
  }

  std::unique_ptr<Onlooker> watch_;  // Made while the store was empty.
};

}  // namespace smdebug::testing
