#include "src/storage/fault_storage.h"
#include "tests/conformance/storage_conformance.h"

namespace smdebug::testing {
namespace {

// Without a plan, the fault-injecting driver is as good as the one inside.
INSTANTIATE_TEST_SUITE_P(UnarmedFault, StorageConformanceTest,
                         ::testing::Values(StorageDriver{
                             "fault", [] {
                               return std::make_shared<storage::FaultStorage>(
                                   OpenMemoryStorage());
                             }}));

}  // namespace
}  // namespace smdebug::testing
