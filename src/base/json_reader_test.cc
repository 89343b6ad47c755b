#include "src/base/json_reader.h"

#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "smdebug/error.h"

namespace smdebug::base {
namespace {

using ::testing::EndsWith;
using ::testing::ThrowsMessage;

TEST(JsonReaderTest, SaysWhatIsNoJsonInWordsThatFitASentence) {
  const std::pair<std::string, std::string> cases[] = {
      {R"({"a": "b)", "is not JSON: a string is not closed"},
      {R"({"a": 1)",
       "is not JSON: commas, colons or brackets are missing or too many"},
      {R"({"a": tru})", "is not JSON: a word is not true, false or null"},
      {"{\"\xFF\": 1}", "is not JSON: it is not UTF-8"},
      {"  ", "is not JSON: there is nothing in it"},
  };
  for (const auto& [text, words] : cases) {
    EXPECT_THAT([&] { const JsonReader reader(text, "f"); },
                ThrowsMessage<FormatError>(EndsWith(words)));
  }
}

}  // namespace
}  // namespace smdebug::base
