#include "tests/conformance/storage_conformance.h"

namespace smdebug::testing {
namespace {

const StorageDriver kMemoryDriver = {
    "memory", [] { return std::shared_ptr(OpenMemoryStorage()); }};

INSTANTIATE_TEST_SUITE_P(Memory, StorageConformanceTest,
                         ::testing::Values(kMemoryDriver));
INSTANTIATE_TEST_SUITE_P(Memory, WatchConformanceTest,
                         ::testing::Values(kMemoryDriver));

}  // namespace
}  // namespace smdebug::testing
