#pragma once

#include <functional>
#include <memory>
#include <ostream>
#include <string>

#include <gtest/gtest.h>

#include "smdebug/storage.h"

namespace smdebug::testing {

// A driver to be tested: makes storages that are empty and independent of each
// other. `open` may return a storage whose deleter removes what lies behind it.
struct StorageDriver {
  std::string name;
  std::function<std::shared_ptr<Storage>()> open;
};

inline void PrintTo(const StorageDriver& driver, std::ostream* out) {
  *out << driver.name;
}

// What every Storage promises. A driver joins with
//
//   INSTANTIATE_TEST_SUITE_P(
//       Memory, StorageConformanceTest,
//       ::testing::Values(StorageDriver{"memory", [] { return ...; }}));
class StorageConformanceTest : public ::testing::TestWithParam<StorageDriver> {
 protected:
  const std::shared_ptr<Storage> storage_ = GetParam().open();
};

}  // namespace smdebug::testing
