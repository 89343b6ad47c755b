#include "src/run/ledger.h"

#include <limits>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "smdebug/error.h"

namespace smdebug::run {
namespace {

using ::testing::HasSubstr;

Ledger FullLedger() {
  Ledger ledger;
  ledger.worker = "worker_1";
  ledger.num_workers = 2;
  ledger.run = "an-id";
  ledger.job = "1700000000-77";
  ledger.host = "box";
  ledger.machine = "m";
  ledger.pid = 77;
  ledger.start = 5;
  ledger.started = 1700000000.25;
  ledger.updated = 1700000100.125;
  ledger.closed = true;
  ledger.ending = "failed";
  ledger.reason = "it broke";
  ledger.moving = "previous/3/";
  ledger.last_step = 99;
  ledger.stats.steps_saved = 10;
  ledger.stats.values_saved = 300;
  ledger.stats.bytes_saved = uint64_t{1} << 40;
  ledger.stats.scalars_saved = 100;
  ledger.stats.stalls = 3;
  ledger.stats.stalled_seconds = 0.5;
  ledger.stats.dropped = 4;
  ledger.stats.skipped = 5;
  ledger.stats.errors = 6;
  ledger.stats.lost = 7;
  ledger.messages = {{"dtype", "tensor 'x': b\xC3\xA4rz"},
                     {"write", "No space \"left\"\n"}};
  return ledger;
}

TEST(LedgerTest, WritesOneLineWithTheNamesOfTheFields) {
  EXPECT_EQ(
      ToJson(FullLedger()),
      R"({"worker": "worker_1", "num_workers": 2, "run": "an-id", )"
      R"("job": "1700000000-77", "host": "box", "machine": "m", "pid": 77, )"
      R"("start": 5, "started": 1700000000.25, "updated": 1700000100.125, )"
      R"("closed": true, "ending": "failed", "reason": "it broke", "moving": "previous/3/", )"
      R"("last_step": 99, )"
      R"("steps_saved": 10, "tensors_saved": 300, )"
      R"("bytes_saved": 1099511627776, "scalars_saved": 100, "stalls": 3, )"
      R"("stalled_seconds": 0.5, "dropped": 4, "skipped": 5, "errors": 6, )"
      R"("lost": 7, "messages": {"dtype": "tensor 'x': b\u00e4rz", )"
      R"("write": "No space \"left\"\n"}})");
}

TEST(LedgerTest, RoundTrips) {
  EXPECT_EQ(ParseLedger(ToJson(FullLedger()), "f"), FullLedger());
  EXPECT_EQ(ParseLedger(ToJson(Ledger{}), "f"), Ledger{});
}

TEST(LedgerTest, RoundTripsTheLargestNumbers) {
  Ledger ledger;
  ledger.stats.bytes_saved =
      static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
  ledger.last_step = std::numeric_limits<int64_t>::max();
  ledger.updated = 1.7976931348623157e308;
  ledger.stats.stalled_seconds = 0.1 + 0.2;
  EXPECT_EQ(ParseLedger(ToJson(ledger), "f"), ledger);
}

TEST(LedgerTest, MissingKeysKeepTheirDefaultsAndUnknownOnesAreIgnored) {
  EXPECT_EQ(ParseLedger("{}", "f"), Ledger{});
  Ledger expected;
  expected.stats.lost = 3;
  EXPECT_EQ(ParseLedger(R"({"future": [1], "lost": 3})", "f"), expected);
}

TEST(LedgerTest, RefusesWrongTypesAndRangesNamingFileAndKey) {
  const struct {
    const char* json;
    const char* reason;
  } cases[] = {
      {"", "is empty"},
      {"{", "is not JSON"},
      {"[]", "expected a JSON object"},
      {R"({"worker": 1})", "worker: expected a string, got a number"},
      {R"({"num_workers": 0})", "num_workers: expected a whole number from 1"},
      {R"({"pid": "7"})", "pid: expected a whole number from 0"},
      {R"({"started": "now"})", "started: expected a number, got a string"},
      {R"({"moving": "../elsewhere/"})", "moving: expected \"previous/<n>/"},
      {R"({"closed": 1})", "closed: expected a boolean, got a number"},
      {R"({"last_step": -2})", "last_step: expected a whole number from -1"},
      {R"({"lost": -1})", "lost: expected a whole number from 0"},
      {R"({"errors": 1.5})", "errors: expected a whole number"},
      {R"({"bytes_saved": -5})", "bytes_saved: expected a whole number"},
      {R"({"messages": []})", "messages: expected an object, got a list"},
      {R"({"messages": {"write": 5}})", "messages.write: expected a string"},
  };
  for (const auto& test : cases) {
    try {
      ParseLedger(test.json, "ledger/w.json");
      ADD_FAILURE() << "accepted " << test.json;
    } catch (const FormatError& error) {
      EXPECT_EQ(error.file(), "ledger/w.json");
      EXPECT_THAT(error.what(), HasSubstr(test.reason));
    }
  }
}

}  // namespace
}  // namespace smdebug::run
