#include "tests/conformance/storage_conformance.h"

namespace smdebug::testing {
namespace {

const StorageDriver kDriver = {
    "memory", [] { return std::shared_ptr(OpenMemoryStorage()); }};

INSTANTIATE_TEST_SUITE_P(Memory, StorageConformanceTest,
                         ::testing::Values(kDriver));
INSTANTIATE_TEST_SUITE_P(Memory, WatchConformanceTest,
                         ::testing::Values(kDriver));

}  // namespace
}  // namespace smdebug::testing
