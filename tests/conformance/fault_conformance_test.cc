#include "tests/conformance/storage_conformance.h"
#include "tests/testing/fault_storage.h"

namespace smdebug::testing {
namespace {

// Without a plan, the fault-injecting driver is as good as the one inside.
const StorageDriver kFaultDriver = {
    "fault",
    [] { return std::make_shared<FaultStorage>(OpenMemoryStorage()); }};

INSTANTIATE_TEST_SUITE_P(UnarmedFault, StorageConformanceTest,
                         ::testing::Values(kFaultDriver));
INSTANTIATE_TEST_SUITE_P(UnarmedFault, WatchConformanceTest,
                         ::testing::Values(kFaultDriver));

}  // namespace
}  // namespace smdebug::testing
