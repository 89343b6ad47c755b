#include "smdebug/trial.h"

#include <algorithm>

#include "src/base/text.h"
#include "src/config/nearest.h"
#include "src/trial/place.h"
#include "src/trial/reader.h"

namespace smdebug {
namespace {

// The number that `name` ends in after its last '_'; 0 if there is none.
int64_t TrailingNumber(std::string_view name) {
  const size_t underscore = name.rfind('_');
  if (underscore == std::string_view::npos) return 0;
  return base::ParseInt(name.substr(underscore + 1)).value_or(0);
}

}  // namespace

std::string_view StepStateName(StepState state) noexcept {
  switch (state) {
    case StepState::kUnavailable:
      return "UNAVAILABLE";
    case StepState::kAvailable:
      return "AVAILABLE";
    case StepState::kNotYetAvailable:
      break;
  }
  return "NOT_YET_AVAILABLE";
}

std::unique_ptr<Trial> Trial::Open(std::string_view path,
                                   TrialOptions options) {
  return std::make_unique<Trial>(trial::OpenPlace(base::Trim(path)),
                                 std::move(options));
}

Trial::Trial(std::shared_ptr<Storage> storage, TrialOptions options)
    : reader_(std::make_unique<trial::Reader>(std::move(storage),
                                              std::move(options))) {}

Trial::~Trial() = default;

const std::string& Trial::name() const noexcept { return reader_->name(); }
const std::string& Trial::path() const noexcept { return reader_->path(); }

const std::shared_ptr<Storage>& Trial::storage() const noexcept {
  return reader_->storage();
}

const std::string& Trial::run_id() const noexcept { return reader_->run_id(); }

RunInfo Trial::run_info() const { return LookAtRun(*reader_->storage()); }

std::vector<std::string> Trial::TensorNames(const TensorFilter& filter) {
  return reader_->TensorNames(filter);
}

bool Trial::HasTensor(std::string_view name) {
  return reader_->Find(name).has_value();
}

Tensor Trial::tensor(std::string_view name) {
  const auto id = reader_->Find(name);
  if (!id) {
    std::string hint = config::DidYouMean(name, reader_->TensorNames({}));
    if (!hint.empty()) hint.front() = 'D';  // A sentence of its own.
    throw TensorUnavailable(name, hint);
  }
  return {reader_.get(), &reader_->NameOf(*id), *id};
}

std::vector<int64_t> Trial::Steps(Mode mode, bool include_incomplete) {
  return reader_->Steps(mode, include_incomplete);
}

std::vector<Mode> Trial::Modes() const { return reader_->Modes(); }

std::optional<Mode> Trial::ModeOf(int64_t global_step) {
  return reader_->ModeOf(global_step);
}

std::optional<int64_t> Trial::ModeStep(int64_t global_step) {
  return reader_->ModeStep(global_step);
}

std::optional<int64_t> Trial::GlobalStep(Mode mode, int64_t mode_step) {
  return reader_->GlobalStep(mode, mode_step);
}

std::vector<std::string> Trial::Workers() { return reader_->Workers(); }
int64_t Trial::num_workers() const { return reader_->num_workers(); }

std::map<std::string, Collection, std::less<>> Trial::Collections() const {
  return reader_->Collections();
}

std::optional<Collection> Trial::FindCollection(std::string_view name) const {
  return reader_->FindCollection(name);
}

bool Trial::HasScalarsAt(int64_t step) const {
  return reader_->HasScalarsAt(step);
}

StepState Trial::HasPassedStep(int64_t step, Mode mode) {
  return reader_->HasPassedStep(step, mode);
}

bool Trial::WaitForSteps(std::span<const int64_t> steps, Mode mode,
                         std::optional<std::chrono::milliseconds> timeout) {
  return reader_->WaitForSteps(steps, mode, timeout);
}

bool Trial::WaitForChange(std::chrono::milliseconds timeout) {
  return reader_->WaitForChange(timeout);
}

std::vector<Value> Trial::ValuesAt(const TensorFilter& filter) {
  std::vector<std::string> names = TensorNames(filter);
  std::ranges::stable_sort(names, {}, TrailingNumber);
  std::vector<Value> values;
  values.reserve(names.size());
  for (const std::string& name : names) {
    values.push_back(tensor(name).At(*filter.step, filter.mode));
  }
  return values;
}

std::vector<Value> Trial::Inputs(int64_t step, Mode mode) {
  return ValuesAt({.step = step, .mode = mode, .collection = "inputs"});
}

std::vector<Value> Trial::Labels(int64_t step, Mode mode) {
  return ValuesAt({.step = step, .mode = mode, .regexes = {"labels*"}});
}

std::vector<Value> Trial::Predictions(int64_t step, Mode mode) {
  return ValuesAt({.step = step, .mode = mode, .regexes = {"predictions*"}});
}

void Trial::Refresh() { reader_->Refresh(); }
bool Trial::SetRefreshing(bool on) { return reader_->SetRefreshing(on); }
bool Trial::refreshing() const { return reader_->refreshing(); }
bool Trial::loaded_all_steps() const { return reader_->loaded_all_steps(); }

int64_t Trial::last_complete_step() const {
  return reader_->last_complete_step();
}

std::string Trial::last_index_token() const {
  return reader_->last_index_token();
}

void Trial::SetEndDelay(std::chrono::milliseconds delay) {
  reader_->SetEndDelay(delay);
}

std::vector<Damage> Trial::damage() const { return reader_->damage(); }

}  // namespace smdebug
