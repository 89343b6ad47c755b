#include "tests/crash/run_content.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <stdexcept>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "smdebug/error.h"
#include "smdebug/run.h"
#include "smdebug/trial.h"
#include "src/query/run_summary.h"
#include "src/query/verify_run.h"
#include "src/run/keys.h"
#include "src/run/survey.h"
#include "tests/crash/victim.h"
#include "tests/testing/run.h"

namespace smdebug::testing {
namespace {

using std::chrono::steady_clock;

constexpr std::chrono::seconds kEndless{120};

int64_t RankOf(const std::string& worker) {
  return std::stoll(worker.substr(worker.find('_') + 1));
}

// The one value of all that was saved at the step.
float ValueAt(const Storage& storage, int64_t step, const std::string& worker) {
  const auto records = ReadStep(storage, step, worker);
  EXPECT_EQ(records.size(), size_t{kVictimTensors} + 1)
      << storage.root() << ", " << worker << ", step " << step;
  const auto loss = records.find("scalar/loss");
  if (loss == records.end()) {
    ADD_FAILURE() << storage.root() << ": no loss at step " << step;
    return NAN;
  }
  const std::vector<double> scalar = loss->second.As<double>();
  EXPECT_EQ(scalar.size(), 1U);
  const auto value = static_cast<float>(scalar.at(0));
  for (const auto& [name, record] : records) {
    if (name == "scalar/loss") continue;
    EXPECT_EQ(record.As<float>(), std::vector<float>(kVictimElements, value))
        << storage.root() << ", " << worker << ", step " << step;
  }
  return value;
}

// Whether a worker was killed before it told of its collections.
bool LacksCollections(const Storage& storage) {
  const auto ledgers = run::LookAt(storage).ledgers;
  return ledgers.empty() || std::ssize(storage.List(run::kCollectionsPrefix)) <
                                ledgers.front().num_workers;
}

void ExpectTrial(const std::shared_ptr<Storage>& storage, bool wait) {
  const auto end = steady_clock::now() + kEndless;
  TrialOptions options;
  options.wait_for_run = wait;
  options.end_delay = std::chrono::milliseconds(0);
  options.while_waiting = [end] {
    if (steady_clock::now() < end) return;
    throw std::runtime_error("the trial waits without end");
  };
  try {
    Trial trial(storage, options);
    const auto steps = trial.Steps(Mode::kGlobal, true);
    EXPECT_THAT(trial.damage(), ::testing::IsEmpty());
    size_t most = 0;
    for (const auto& [worker, of_worker] : ReadContent(*storage).steps) {
      most = std::max(most, of_worker.size());
    }
    EXPECT_EQ(steps.size(), most) << storage->root();
  } catch (const MissingCollectionFiles& error) {
    EXPECT_TRUE(wait && LacksCollections(*storage)) << error.what();
  } catch (const FormatError& error) {
    EXPECT_FALSE(run::HoldsRun(*storage)) << error.what();
  }
}

}  // namespace

RunContent ReadContent(const Storage& storage) {
  RunContent content;
  for (const FileInfo& file : storage.List(run::kIndexPrefix)) {
    const auto parsed = run::ParseStepFileKey(file.key);
    if (!parsed) continue;
    const auto& [step, worker] = *parsed;
    std::vector<int64_t>& steps = content.steps[worker];
    EXPECT_EQ(step, static_cast<int64_t>(steps.size()))
        << storage.root() << ": steps are published in order";
    steps.push_back(step);
    const float value = ValueAt(storage, step, worker);
    if (!content.tag) content.tag = static_cast<int64_t>(value) / 1000;
    EXPECT_EQ(value, VictimValue(*content.tag, RankOf(worker), step))
        << storage.root() << ", " << worker << ", step " << step;
  }
  return content;
}

bool HasRunFiles(const Storage& storage) {
  return storage.Stat(run::kEndMarkerKey) ||
         std::ranges::any_of(run::kRunPrefixes, [&](std::string_view prefix) {
           return !storage.List(prefix, {}, 1).empty();
         });
}

void ExpectAnswers(const std::shared_ptr<Storage>& storage) {
  const RunInfo info = LookAtRun(*storage);
  if (run::HoldsRun(*storage)) {
    EXPECT_THAT(query::SummarizeRun(*storage).damage, ::testing::IsEmpty());
    EXPECT_THAT(query::VerifyRun(*storage, [](uint64_t) {}).damage,
                ::testing::IsEmpty());
  } else {
    EXPECT_THROW(query::SummarizeRun(*storage), FormatError);
  }
  ExpectTrial(storage, false);
  // Where more may come, waiting is right.
  if (info.over()) ExpectTrial(storage, true);
}

std::shared_ptr<Storage> OpenPrevious(const std::string& out_dir, int64_t n) {
  return OpenLocalStorage(out_dir + "/" + run::PreviousPrefix(n));
}

}  // namespace smdebug::testing
