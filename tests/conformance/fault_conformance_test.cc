#include "tests/conformance/storage_conformance.h"
#include "tests/testing/fault_storage.h"

namespace smdebug::testing {
namespace {

// Without a plan, the fault-injecting driver is as good as the one inside.
const StorageDriver kDriver = {
    "fault",
    [] { return std::make_shared<FaultStorage>(OpenMemoryStorage()); }};

INSTANTIATE_TEST_SUITE_P(UnarmedFault, StorageConformanceTest,
                         ::testing::Values(kDriver));
INSTANTIATE_TEST_SUITE_P(UnarmedFault, WatchConformanceTest,
                         ::testing::Values(kDriver));

}  // namespace
}  // namespace smdebug::testing
