// `smdebug verify`, over runs that the hook wrote and somebody damaged.
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/index/step_index.h"
#include "src/run/keys.h"
#include "tests/integration/cli/runs.h"
#include "tests/testing/cli.h"
#include "tests/testing/files.h"
#include "tests/testing/temp_dir.h"

namespace smdebug::cli {
namespace {

using testing::CallCli;
using testing::CliOutcome;
using testing::EditLedger;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using testing::ReadFile;
using testing::TempDir;
using testing::WriteFile;
using testing::WriteSmallRun;

class VerifyTest : public ::testing::Test {
 protected:
  void SetUp() override { WriteSmallRun(run_); }

  CliOutcome Verify() const { return CallCli({"verify", run_}); }
  nlohmann::json VerifyJson() const {
    return CallCli({"verify", run_, "--json"}).json();
  }

  std::string PathOf(const std::string& key) const { return run_ + "/" + key; }
  void Edit(const std::string& key,
            const std::function<void(std::string&)>& edit) const {
    std::string content = ReadFile(PathOf(key));
    edit(content);
    WriteFile(PathOf(key), content);
  }

  // Edits an index as smdebug 1.0 would have left it: without its checksum.
  void EditIndex(const std::function<void(std::string&)>& edit) const {
    Edit(index_, [&](std::string& text) {
      text.erase(text.rfind(index::kCheckKey));
      text += '}';
      edit(text);
    });
  }

  const TempDir dir_;
  const std::string run_ = dir_ / "run";
  const std::string event_ = run::EventFileKey(2, "worker_0");
  const std::string index_ = run::IndexFileKey(2, "worker_0");
};

TEST_F(VerifyTest, AHealthyRunIsWell) {
  const CliOutcome outcome = Verify();
  EXPECT_EQ(outcome.code, kExitOk) << outcome.out;
  EXPECT_THAT(outcome.err, IsEmpty());
  // Each TRAIN step: the weight, two reductions, the loss; EVAL has no
  // gradient.
  EXPECT_THAT(outcome.out, HasSubstr("files      6 index files, 6 event files\n"
                                     "values     20, "));
  EXPECT_THAT(outcome.out, HasSubstr("checksums  all 20 values have one\n"));
  EXPECT_THAT(outcome.out, EndsWith("damage     none\n"));
  const auto json = VerifyJson();
  EXPECT_EQ(json["well"], true);
  EXPECT_EQ(json["with_checksum"], 20);
  EXPECT_EQ(json["without_checksum"], 0);
  EXPECT_EQ(json["damage"].size(), 0u);
}

TEST_F(VerifyTest, AnyFlippedBitOfAnEventFileIsFound) {
  const std::string whole = ReadFile(PathOf(event_));
  for (size_t at = 0; at < whole.size(); ++at) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x10);
    WriteFile(PathOf(event_), damaged);
    const CliOutcome outcome = Verify();
    ASSERT_EQ(outcome.code, kExitFound) << "byte " << at;
    ASSERT_THAT(outcome.out, HasSubstr(event_));
  }
}

TEST_F(VerifyTest, DamageIsToldByFileAndTensor) {
  const auto parsed = index::ParseStepIndex(ReadFile(PathOf(index_)), index_);
  Edit(event_, [&](std::string& file) {
    const auto& location = parsed.tensors.front().location;
    file[location.start + location.length - 5] ^= 1;
  });
  const auto json = VerifyJson();
  ASSERT_EQ(json["damage"].size(), 1u);
  EXPECT_EQ(json["damage"][0]["file"], event_);
  EXPECT_EQ(json["damage"][0]["tensor"], parsed.tensors.front().name);
  EXPECT_EQ(json["damage"][0]["reason"], "the checksum is wrong");
  const CliOutcome outcome = Verify();
  EXPECT_THAT(outcome.out,
              HasSubstr("damage     1 place\n           " + event_ +
                        ": the checksum is wrong; 1 value is lost: '" +
                        parsed.tensors.front().name + "'\n"));
}

TEST_F(VerifyTest, ACutFileIsOneLineThatCountsWhatIsLost) {
  const std::string whole = ReadFile(PathOf(event_));
  WriteFile(PathOf(event_), whole.substr(0, 100));
  EXPECT_THAT(
      Verify().out,
      HasSubstr("damage     1 place\n           " + event_ +
                ": is cut short: it ends after 100 bytes, its index "
                "names values up to byte " +
                std::to_string(whole.size()) + "; 4 values are lost: "));
  EXPECT_EQ(VerifyJson()["damage"].size(), 4u);
}

TEST_F(VerifyTest, ACutFileIsFoundWhereverItIsCut) {
  const std::string whole = ReadFile(PathOf(event_));
  for (const size_t size :
       {size_t{0}, size_t{1}, whole.size() / 2, whole.size() - 1}) {
    WriteFile(PathOf(event_), whole.substr(0, size));
    EXPECT_EQ(Verify().code, kExitFound) << size;
  }
}

TEST_F(VerifyTest, BytesBehindTheLastRecordAreFound) {
  Edit(event_, [](std::string& file) { file += "garbage beyond the end"; });
  EXPECT_THAT(Verify().out, HasSubstr("is no record\n"));
}

TEST_F(VerifyTest, AMissingEventFileIsFound) {
  std::filesystem::remove(PathOf(event_));
  EXPECT_EQ(Verify().code, kExitFound);
  EXPECT_THAT(Verify().out,
              HasSubstr(event_ + ": is missing, but " + index_ + " names it"));
}

TEST_F(VerifyTest, DamagedIndexCollectionsAndLedgerAreFound) {
  for (const std::string& key : {index_, run::CollectionsFileKey("worker_0"),
                                 run::LedgerKey("worker_0")}) {
    const std::string whole = ReadFile(PathOf(key));
    WriteFile(PathOf(key), "{");
    const CliOutcome outcome = Verify();
    EXPECT_EQ(outcome.code, kExitFound) << key;
    EXPECT_THAT(outcome.out, HasSubstr(key + ": "));
    WriteFile(PathOf(key), whole);
  }
}

TEST_F(VerifyTest, ARecordInTheWrongPlaceIsFound) {
  EditIndex([](std::string& index) {
    const size_t at = index.find("\"fc.weight\"");
    index.replace(at, 11, "\"fc.wrong\"");
  });
  EXPECT_THAT(Verify().out,
              HasSubstr("holds 'fc.weight' in its place; 1 value is lost: "
                        "'fc.wrong'\n"));
}

TEST_F(VerifyTest, WhatAKilledWriterLeavesIsNoDamage) {
  std::filesystem::remove(PathOf(index_));
  EditLedger(run_, [](run::Ledger& ledger) { --ledger.stats.steps_saved; });
  WriteFile(PathOf(run::IndexFileKey(9, "worker_0") + ".tmp"), "{");
  const CliOutcome outcome = Verify();
  EXPECT_EQ(outcome.code, kExitOk) << outcome.out;
  EXPECT_THAT(outcome.out, HasSubstr("leftover   " + event_ + ": no index"));
  EXPECT_EQ(VerifyJson()["leftovers"], nlohmann::json({event_}));
}

TEST_F(VerifyTest, AnEventFileWhoseIndexIsGoneIsNoLeftover) {
  std::filesystem::remove(PathOf(index_));
  const CliOutcome outcome = Verify();
  EXPECT_EQ(outcome.code, kExitFound);
  EXPECT_THAT(outcome.out, Not(HasSubstr("leftover")));
  EXPECT_THAT(outcome.out, HasSubstr("unchecked  " + event_ +
                                     ": belongs to index, which is damaged\n"));
  EXPECT_THAT(outcome.out, HasSubstr("index: 1 step is missing"));
}

TEST_F(VerifyTest, AnEventFileOfADamagedIndexIsNoLeftover) {
  WriteFile(PathOf(index_), "{");
  const CliOutcome outcome = Verify();
  EXPECT_EQ(outcome.code, kExitFound);
  EXPECT_THAT(outcome.out, Not(HasSubstr("leftover")));
  EXPECT_THAT(outcome.out, HasSubstr("unchecked  " + event_ + ": belongs to " +
                                     index_ + ", which is damaged\n"));
  EXPECT_THAT(outcome.out, HasSubstr("damage     1 place\n"));
  const auto json = VerifyJson();
  EXPECT_EQ(json["leftovers"].size(), 0u);
  ASSERT_EQ(json["unchecked"].size(), 1u);
  EXPECT_EQ(json["unchecked"][0]["file"], event_);
  EXPECT_EQ(json["unchecked"][0]["index"], index_);
}

TEST_F(VerifyTest, AStepThatTheLedgerCountsAndNobodyHasIsDamage) {
  std::filesystem::remove(PathOf(index_));
  for (const char* command : {"status", "verify"}) {
    const CliOutcome outcome = CallCli({command, run_});
    EXPECT_EQ(outcome.code, kExitFound) << command;
    EXPECT_THAT(outcome.out,
                HasSubstr("index: 1 step is missing: the ledger of worker_0 "
                          "says 6 were saved, 5 are there\n"));
  }
}

TEST_F(VerifyTest, ALinkInPlaceOfAFolderIsNamedOnce) {
  for (const std::string folder :
       {"events", "index", "collections", "ledger", "events/000000000002"}) {
    const std::string away = dir_ / "away";
    std::filesystem::rename(PathOf(folder), away);
    std::filesystem::create_directory_symlink(away, PathOf(folder));
    for (const char* command : {"status", "verify"}) {
      const CliOutcome outcome = CallCli({command, run_});
      EXPECT_EQ(outcome.code, kExitFound) << command << folder;
      EXPECT_THAT(outcome.out,
                  HasSubstr(" " + folder +
                            ": a symbolic link is in the way, "
                            "and below the folder of a run none is followed"));
      EXPECT_THAT(outcome.out, Not(HasSubstr("missing")));
      EXPECT_THAT(outcome.out, Not(HasSubstr("smdebug 1.0?")));
      EXPECT_EQ(CallCli({command, run_, "--json"}).json()["damage"].size(), 1u)
          << command << folder;
    }
    std::filesystem::remove(PathOf(folder));
    std::filesystem::rename(away, PathOf(folder));
  }
  EXPECT_EQ(Verify().code, kExitOk);
}

TEST_F(VerifyTest, ALinkInPlaceOfAFileIsNamedOnce) {
  for (const std::string file :
       {"claim.smd", "training_job_end.ts", "ledger/worker_0.json",
        "collections/000000000/worker_0_collections.json"}) {
    const std::string away = dir_ / "away";
    // A run that has ended has no claim.
    const bool is_there = std::filesystem::exists(PathOf(file));
    if (is_there) std::filesystem::rename(PathOf(file), away);
    std::filesystem::create_symlink(away, PathOf(file));
    for (const char* command : {"status", "verify"}) {
      const CliOutcome outcome = CallCli({command, run_});
      EXPECT_EQ(outcome.code, kExitFound) << command << file;
      EXPECT_THAT(outcome.out,
                  HasSubstr(" " + file + ": a symbolic link is in the way, "));
      EXPECT_EQ(CallCli({command, run_, "--json"}).json()["damage"].size(), 1u)
          << command << file << outcome.out;
    }
    std::filesystem::remove(PathOf(file));
    if (is_there) std::filesystem::rename(away, PathOf(file));
  }
  EXPECT_EQ(Verify().code, kExitOk);
}

TEST_F(VerifyTest, ARunOfWhichAllIsBehindLinksIsNotCalledAbsent) {
  std::filesystem::remove(PathOf(std::string(run::kEndMarkerKey)));
  std::filesystem::create_directory(dir_ / "away");
  for (const std::string folder :
       {"events", "index", "collections", "ledger"}) {
    const std::string away = (dir_ / "away/") + folder;
    std::filesystem::rename(PathOf(folder), away);
    std::filesystem::create_directory_symlink(away, PathOf(folder));
  }
  for (const char* command : {"status", "verify"}) {
    const CliOutcome outcome = CallCli({command, run_});
    EXPECT_EQ(outcome.code, kExitError) << command;
    EXPECT_THAT(outcome.err, HasSubstr("a symbolic link is in the way"));
  }
}

TEST_F(VerifyTest, ValuesWithoutChecksumAreCounted) {
  EditIndex([](std::string& index) {
    for (size_t at = index.find(", \"crc32c\": "); at != std::string::npos;
         at = index.find(", \"crc32c\": ")) {
      index.erase(at, index.find('}', at) - at);
    }
  });
  const CliOutcome outcome = Verify();
  EXPECT_EQ(outcome.code, kExitOk) << outcome.out;
  EXPECT_THAT(outcome.out, HasSubstr("16 values with, 4 without"));
}

TEST_F(VerifyTest, ProgressIsForTerminals) {
  // Quick work shows nothing; what matters is that standard output is clean.
  const Terminal terminal = {.is_terminal = true};
  EXPECT_EQ(CallCli({"verify", run_}, terminal).out, Verify().out);
}

TEST_F(VerifyTest, NoRunIsAnError) {
  const CliOutcome outcome = CallCli({"verify", dir_ / "absent"});
  EXPECT_EQ(outcome.code, kExitError);
  EXPECT_THAT(outcome.err, HasSubstr("no such folder"));
}

}  // namespace
}  // namespace smdebug::cli
