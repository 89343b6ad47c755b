// Runs that were written once, by smdebug 1.0 and by earlier versions of ours,
// are read as they were meant. README.md tells how each was made.
#include <filesystem>
#include <iterator>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/testing/files.h"
#include "tests/testing/run_document.h"

namespace smdebug {
namespace {

using nlohmann::json;

const std::filesystem::path kFolder = SMDEBUG_GOLDEN_DIR;

constexpr const char* kRuns[] = {"reference_dtypes", "reference_devices",
                                 "reference_training", "own_training"};

class GoldenTest : public ::testing::TestWithParam<const char*> {};

TEST_P(GoldenTest, IsReadAsItWasWritten) {
  const std::filesystem::path folder = kFolder / GetParam();
  const json expected =
      json::parse(testing::ReadFile(folder / "expected.json"));
  const json document =
      testing::ReadRun(folder / "run", expected.at("questions"));
  EXPECT_TRUE(document == expected.at("document"))
      << "What leads from the expected document to the one that was read:\n"
      << json::diff(expected.at("document"), document).dump(1);
}

INSTANTIATE_TEST_SUITE_P(Runs, GoldenTest, ::testing::ValuesIn(kRuns),
                         [](const auto& run) { return run.param; });

TEST(GoldenFolderTest, HasNoRunThatIsNotChecked) {
  size_t runs = 0;
  for (const auto& entry : std::filesystem::directory_iterator(kFolder)) {
    runs += std::filesystem::exists(entry.path() / "run");
  }
  EXPECT_EQ(runs, std::size(kRuns));
}

}  // namespace
}  // namespace smdebug
