#include "tests/conformance/storage_conformance.h"

namespace smdebug::testing {
namespace {

INSTANTIATE_TEST_SUITE_P(Memory, StorageConformanceTest,
                         ::testing::Values(StorageDriver{
                             "memory", [] {
                               return std::shared_ptr(OpenMemoryStorage());
                             }}));

}  // namespace
}  // namespace smdebug::testing
