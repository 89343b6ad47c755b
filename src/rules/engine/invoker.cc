#include "smdebug/invoker.h"

#include <algorithm>
#include <utility>

#include "src/base/clock.h"
#include "src/rules/engine/panel.h"
#include "src/rules/engine/registry.h"
#include "src/run/keys.h"
#include "src/steps/step_source.h"

namespace smdebug {

Invoker::Invoker(Trial* trial, InvokeOptions options)
    : panel_(std::make_unique<rules::Panel>(trial, std::move(options))) {}

Invoker::~Invoker() = default;

void Invoker::Add(RuleEvaluation evaluation) {
  const RuleType& type = rules::RequireRule(evaluation.spec);
  panel_->Add(std::move(evaluation), type);
}

void Invoker::Add(RuleEvaluation evaluation, const RuleType& type) {
  panel_->Add(std::move(evaluation), type);
}

int64_t Invoker::JudgeNewSteps(int64_t most) {
  return panel_->JudgeNewSteps(most);
}

bool Invoker::Done() { return panel_->Done(); }
bool Invoker::Run() { return panel_->Run(); }
void Invoker::NoteWait(double seconds) { panel_->NoteWait(seconds); }
void Invoker::Finish(bool stopped) { panel_->Finish(stopped); }

std::vector<RuleReport> Invoker::reports() const { return panel_->reports(); }
const RuleReport& Invoker::report(size_t index) const {
  return panel_->report(index);
}
std::vector<RuleFile> Invoker::Files() { return panel_->Files(); }
int64_t Invoker::last_step() const noexcept { return panel_->last_step(); }
int64_t Invoker::steps_judged() const noexcept {
  return panel_->steps_judged();
}

bool Invoker::is_behind() const noexcept { return panel_->is_behind(); }

double SecondsSinceNewestFile(const Storage& storage) {
  if (storage.Stat(run::kEndMarkerKey)) return 0;
  double newest = steps::NewestStep(*steps::OpenStepSource(&storage));
  for (const FileInfo& file : storage.List(run::kCollectionsPrefix)) {
    newest = std::max(newest, file.modified);
  }
  return newest == 0 ? 0 : std::max(0.0, base::WallSeconds() - newest);
}

}  // namespace smdebug
