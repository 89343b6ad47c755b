// Runs a fuzz target over its corpus and over every input that once broke it.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/testing/files.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace smdebug::fuzz {
namespace {

using ::testing::IsEmpty;
using ::testing::Not;

// From a buffer of exactly the file's size, so that a sanitizer sees any read
// beyond it.
void Replay(const std::filesystem::path& path) {
  const std::string bytes = testing::ReadFile(path);
  const auto buffer = std::make_unique<uint8_t[]>(bytes.size());
  std::ranges::copy(bytes, buffer.get());
  LLVMFuzzerTestOneInput(buffer.get(), bytes.size());
}

void ReplayAll(const std::filesystem::path& folder) {
  for (const std::string& file : testing::FilesBelow(folder)) {
    SCOPED_TRACE(folder / file);
    EXPECT_NO_THROW(Replay(folder / file));
  }
}

const std::filesystem::path kFolder = FUZZ_FOLDER;

TEST(FuzzReplayTest, EveryFileOfTheCorpusKeepsThePromises) {
  const std::filesystem::path corpus = kFolder / "corpus" / FUZZ_INPUT;
  EXPECT_THAT(testing::FilesBelow(corpus), Not(IsEmpty()));
  ReplayAll(corpus);
}

TEST(FuzzReplayTest, EveryInputThatBrokeAPromiseKeepsThemNow) {
  ReplayAll(kFolder / "crashes" / FUZZ_INPUT);
}

}  // namespace
}  // namespace smdebug::fuzz
