#include "tests/conformance/storage_conformance.h"
#include "tests/testing/object_store.h"

namespace smdebug::testing {
namespace {

const StorageDriver kObjectDriver = {
    "object", [] { return std::make_shared<ObjectStore>(); },
    /*watches=*/false,
    /*grows=*/false,
    /*renames=*/false};

INSTANTIATE_TEST_SUITE_P(Object, StorageConformanceTest,
                         ::testing::Values(kObjectDriver));

}  // namespace
}  // namespace smdebug::testing
