// Jobs are started again and again in the same folder and killed at random
// moments. SMDEBUG_KILLS tells how many kills there are, SMDEBUG_KILL_SEED
// plays the moments of another time again.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "smdebug/run.h"
#include "src/base/environment.h"
#include "src/run/keys.h"
#include "src/run/survey.h"
#include "tests/crash/run_content.h"
#include "tests/crash/victim.h"
#include "tests/testing/temp_dir.h"

namespace smdebug::testing {
namespace {

using Victims = std::vector<std::unique_ptr<Victim>>;

int64_t NumberFrom(const char* variable, int64_t otherwise) {
  const auto text = base::GetEnv(variable);
  return text ? std::stoll(*text) : otherwise;
}

// A start of a job, and what is to end it.
struct Start {
  enum class End { kItself, kAtPoint, kAfterLines, kAfterTime };

  int64_t tag = 0;
  int64_t workers = 1;
  int64_t steps = 0;
  bool paced = false;
  bool fails = false;
  End end = End::kItself;
  std::string point = {};
  size_t lines = 0;
  std::chrono::microseconds time{0};
  // Rank of the only worker to be killed; unset: all of them are.
  std::optional<int64_t> only = {};
  // That worker comes again, and is killed at `again_at` once more, before the
  // others close.
  bool again = false;
  std::string again_at = {};

  bool Spares(int64_t rank) const { return only && *only != rank; }
};

class Draw {
 public:
  explicit Draw(uint64_t seed) : random_(seed) {}

  Start operator()(int64_t tag) {
    Start start = {.tag = tag,
                   .workers = Below(4) == 0 ? 2 + Below(2) : 1,
                   .steps = Below(13),
                   .paced = Below(3) == 0,
                   .fails = Below(2) == 0};
    const int64_t end = Below(16);
    if (end >= 1) start.end = Start::End::kAtPoint;
    if (end >= 8) start.end = Start::End::kAfterLines;
    if (end >= 11) start.end = Start::End::kAfterTime;
    start.point = Point(start.steps);
    start.lines = static_cast<size_t>(Below(start.steps + 3));
    // Most of it happens in the first milliseconds.
    start.time = std::chrono::microseconds(Below(1 << (8 + Below(8))));
    if (Below(2) == 0) start.only = Below(start.workers);
    if (start.only && start.workers > 1 && Below(2) == 0) {
      start.again = true;
      start.again_at = "after_own_move:" + std::to_string(1 + Below(10));
    }
    return start;
  }

 private:
  int64_t Below(int64_t end) {
    return std::uniform_int_distribution<int64_t>(0, end - 1)(random_);
  }

  std::string Point(int64_t steps) {
    struct Known {
      const char* name;
      int64_t times;
    };
    const Known known[] = {{"after_claim", 1},
                           {"after_move", 6},
                           {"after_move", 6},
                           {"after_set_aside", 1},
                           {"after_enter", 1},
                           {"before_collections_publish", 1},
                           {"before_event_publish", steps},
                           {"after_event_publish", steps},
                           {"before_index_publish", steps},
                           {"after_index_publish", steps},
                           {"after_last_ledger", 1},
                           {"after_marker", 1}};
    const Known& point = known[Below(std::size(known))];
    return point.name + std::string(":") +
           std::to_string(1 + Below(std::max<int64_t>(point.times, 1)));
  }

  std::mt19937_64 random_;
};

// Whether the worker that was killed alone has closed the run of this start,
// whatever became of its process then.
bool HasClosed(const std::string& out_dir, const Start& start) {
  const auto storage = OpenLocalStorage(out_dir);
  const auto ledgers = run::LookAt(*storage).ledgers;
  return std::ranges::any_of(ledgers, [&](const run::Ledger& ledger) {
    return ledger.closed && ledger.job == VictimJob(start.tag) &&
           ledger.worker == fmt::format("worker_{}", *start.only);
  });
}

// Starts the worker that was killed alone until it ends by itself. One that had
// closed is not missed: the others end the run.
void ComeAgain(const std::string& out_dir, const Start& start,
               Victims& victims) {
  const Victim* last = victims[static_cast<size_t>(*start.only)].get();
  victims[static_cast<size_t>(*start.only)]->AwaitEnd();
  for (std::string kill_at = start.again_at;
       last->killed() && !HasClosed(out_dir, start); kill_at = "") {
    victims.push_back(std::make_unique<Victim>(
        out_dir, VictimOptions{.tag = start.tag,
                               .rank = *start.only,
                               .workers = start.workers,
                               .steps = start.steps,
                               .fails = start.fails,
                               .kill_at = kill_at}));
    victims.back()->AwaitEnd();
    last = victims.back().get();
  }
}

Victims Play(const std::string& out_dir, const Start& start) {
  Victims victims;
  for (int64_t rank = 0; rank < start.workers; ++rank) {
    const bool at_point =
        start.end == Start::End::kAtPoint && !start.Spares(rank);
    const bool outlives = start.again && start.Spares(rank);
    victims.push_back(std::make_unique<Victim>(
        out_dir, VictimOptions{.tag = start.tag,
                               .rank = rank,
                               .workers = start.workers,
                               .steps = start.steps,
                               .paced = start.paced,
                               .fails = start.fails,
                               .outlives = outlives ? start.only : std::nullopt,
                               .kill_at = at_point ? start.point : ""}));
  }
  if (start.end == Start::End::kAfterTime) {
    std::this_thread::sleep_for(start.time);
  }
  if (start.end == Start::End::kAfterLines) {
    victims[static_cast<size_t>(start.only.value_or(0))]->AwaitLines(
        start.lines);
  }
  for (int64_t rank = 0; rank < start.workers; ++rank) {
    const bool by_hand = start.end == Start::End::kAfterLines ||
                         start.end == Start::End::kAfterTime;
    if (by_hand && !start.Spares(rank)) {
      victims[static_cast<size_t>(rank)]->Kill();
    }
  }
  if (start.again) ComeAgain(out_dir, start, victims);
  for (const auto& victim : victims) victim->AwaitEnd();
  return victims;
}

// A folder over many starts, with what must be in it. Nobody is alive in it
// between them.
class UsedFolder {
 public:
  explicit UsedFolder(std::string path)
      : path_(std::move(path)), storage_(OpenLocalStorage(path_)) {}

  const std::string& path() const { return path_; }

  // Whether another job may be started here.
  bool usable() const { return usable_; }

  void CheckAfter(const Start& start, const Victims& victims) {
    ExpectAnswers(storage_);
    const run::Survey survey = run::LookAt(*storage_);
    CheckState(survey);
    const RunContent content = ReadContent(*storage_);
    if (survey.is_starting()) {
      // The run before has given way, and has one place to go to.
      EXPECT_TRUE(content == content_ || content == RunContent());
      EXPECT_TRUE(had_files_);
      EXPECT_EQ(survey.claim->moving, run::PreviousPrefix(Moved() + 1));
      return;
    }
    if (survey.id == id_) {
      EXPECT_EQ(content, content_);
      CheckPrevious(Moved());
      return;
    }
    int64_t moved = Moved();
    if (had_files_) previous_.push_back(content_);
    // Workers that came after another was killed have begun a run of their own.
    while (HasRunFiles(*OpenPrevious(path_, Moved() + 1))) {
      previous_.push_back(ReadContent(*OpenPrevious(path_, Moved() + 1)));
      EXPECT_EQ(previous_.back().tag.value_or(start.tag), start.tag);
    }
    while (moved < Moved()) CheckPrevious(++moved);
    EXPECT_EQ(content.tag.value_or(start.tag), start.tag);
    if (start.workers == 1) CheckSaved(content, *victims.front());
    id_ = survey.id;
    content_ = content;
    had_files_ = HasRunFiles(*storage_);
  }

  void CheckAllPrevious() const {
    for (int64_t n = 1; n <= Moved(); ++n) CheckPrevious(n);
    EXPECT_FALSE(HasRunFiles(*OpenPrevious(path_, Moved() + 1)));
  }

 private:
  int64_t Moved() const { return static_cast<int64_t>(previous_.size()); }

  void CheckPrevious(int64_t n) const {
    if (n == 0) return;
    const auto previous = OpenPrevious(path_, n);
    EXPECT_EQ(ReadContent(*previous), previous_.at(size_t(n) - 1)) << n;
    if (HasRunFiles(*previous)) ExpectAnswers(previous);
  }

  void CheckState(const run::Survey& survey) {
    const RunState state = LookAtRun(*storage_).state;
    switch (state) {
      case RunState::kFinished:
        // One that was killed before it wrote its marker is set aside.
        EXPECT_TRUE(survey.marker || survey.claim);
        usable_ = !survey.marker;
        break;
      case RunState::kRunning:
        // Those that came have closed, and others might still come.
        EXPECT_FALSE(survey.ledgers.empty());
        for (const run::Ledger& ledger : survey.ledgers) {
          EXPECT_TRUE(ledger.closed);
          EXPECT_LT(std::ssize(survey.ledgers), ledger.num_workers);
        }
        usable_ = false;
        break;
      case RunState::kUnknown:
        EXPECT_FALSE(run::HoldsRun(*storage_));
        break;
      case RunState::kFailed:
        EXPECT_TRUE(std::ranges::any_of(survey.ledgers, &run::Ledger::closed));
        break;
      case RunState::kKilled:
        break;
      case RunState::kInterrupted:
        ADD_FAILURE() << "nobody was interrupted";
    }
  }

  static void CheckSaved(const RunContent& content, const Victim& victim) {
    const auto own = content.steps.find("worker_0");
    const int64_t found =
        own == content.steps.end() ? 0 : std::ssize(own->second);
    EXPECT_GE(found, victim.saved()) << "steps are lost\n" << victim.output();
  }

  const std::string path_;
  const std::shared_ptr<Storage> storage_;
  bool usable_ = true;
  std::string id_;
  RunContent content_;
  bool had_files_ = false;
  std::vector<RunContent> previous_;
};

std::ostream& operator<<(std::ostream& out, const Start& start) {
  out << "start " << start.tag << ": " << start.workers << " workers, "
      << start.steps << " steps, ";
  switch (start.end) {
    case Start::End::kItself:
      return out << "left alone";
    case Start::End::kAtPoint:
      out << "killed at " << start.point;
      break;
    case Start::End::kAfterLines:
      out << "killed after " << start.lines << " lines";
      break;
    case Start::End::kAfterTime:
      out << "killed after " << start.time.count() << " microseconds";
  }
  if (start.only) out << ", worker " << *start.only << " alone";
  if (start.again) out << ", which comes again until " << start.again_at;
  return out;
}

std::string FilesBelow(const std::string& path) {
  std::vector<std::string> names;
  for (const auto& file : std::filesystem::recursive_directory_iterator(path)) {
    if (file.is_regular_file()) names.push_back(file.path().string() + '\n');
  }
  std::ranges::sort(names);
  std::string all;
  for (const std::string& name : names) all += name;
  return all;
}

// Returns how many processes were killed.
int64_t PlayAndCheck(UsedFolder& folder, const Start& start) {
  std::ostringstream told;
  told << start << " in " << folder.path();
  SCOPED_TRACE(told.str());
  const Victims victims = Play(folder.path(), start);
  int64_t kills = 0;
  for (const auto& victim : victims) {
    kills += int64_t{victim->killed()};
    if (victim->killed()) continue;
    EXPECT_EQ(victim->exit_code(), 0) << victim->output();
  }
  try {
    folder.CheckAfter(start, victims);
  } catch (const std::exception& error) {
    // Elsewhere nobody would say of which start it is.
    ADD_FAILURE() << error.what() << "; the folder has\n"
                  << FilesBelow(folder.path());
  }
  return kills;
}

TEST(KillLoopTest, NoKillLeavesDamageOrAFolderThatCannotBeUsed) {
  const int64_t wanted = NumberFrom("SMDEBUG_KILLS", 100);
  const auto seed = static_cast<uint64_t>(
      NumberFrom("SMDEBUG_KILL_SEED", int64_t{std::random_device{}()}));
  std::cout << "SMDEBUG_KILL_SEED=" << seed << std::endl;
  TempDir dir;
  Draw draw(seed);
  int64_t kills = 0;
  int64_t tag = 0;
  int64_t folders = 0;
  while (kills < wanted) {
    UsedFolder folder(dir / std::to_string(++folders));
    while (folder.usable() && !HasFailure()) {
      const Start left_alone = {.tag = ++tag, .steps = 3};
      kills += PlayAndCheck(folder, kills < wanted ? draw(tag) : left_alone);
    }
    folder.CheckAllPrevious();
    ASSERT_FALSE(HasFailure()) << "after " << kills << " kills, seed " << seed;
    std::filesystem::remove_all(folder.path());
  }
  std::cout << kills << " kills in " << folders << " folders" << std::endl;
}

TEST(KillLoopTest, ARunThatEndsIsNeverTakenForKilled) {
  for (int i = 0; i < 20; ++i) {
    TempDir dir;
    const auto storage = OpenLocalStorage(dir / "run");
    Victim victim(dir / "run", {.tag = 1, .steps = 2});
    RunState state = RunState::kUnknown;
    while (state == RunState::kUnknown || state == RunState::kRunning) {
      state = LookAtRun(*storage).state;
    }
    EXPECT_EQ(state, RunState::kFinished);
    victim.AwaitEnd();
    ASSERT_EQ(victim.exit_code(), 0) << victim.output();
  }
}

}  // namespace
}  // namespace smdebug::testing
