#include "src/hook/selector.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include "src/base/log.h"
#include "src/record/summary_event.h"

namespace smdebug::hook {
namespace {

// Names beyond this are forgotten and looked up anew, so that a job that
// invents names without end does not grow without bound.
constexpr size_t kMaxNames = size_t{1} << 17;

// The same for sets of collections that are due together.
constexpr size_t kMaxDueSets = size_t{1} << 12;

// `all` and `default` name a choice of the user, not a kind of tensor.
bool IsCatchAll(std::string_view collection) {
  return collection == "all" || collection == "default";
}

uint64_t NextGeneration() {
  static std::atomic<uint64_t> last{0};
  return ++last;
}

}  // namespace

Selector::Selector(const HookConfig& config)
    : config_(config),
      tensorboard_(!config::TensorboardDir(config).empty()),
      plan_(config::MakePlan(config)),
      generation_(NextGeneration()),
      unmatched_(config_, plan_) {
  for (auto& [name, planned] : plan_) {
    collections_.push_back(&planned);
    changes_.made.push_back(planned.collection);
  }
}

bool Selector::IsDue(const config::PlannedCollection& collection,
                     const Stamp& stamp) const {
  const bool training =
      stamp.mode == Mode::kTrain || stamp.mode == Mode::kGlobal;
  if (collection.train_only && !training) return false;
  return collection.Schedule(stamp.mode).ShouldSave(stamp.mode_step);
}

void Selector::BeginStep(const Stamp& stamp) {
  due_.assign(collections_.size(), false);
  bool any = false;
  for (size_t i = 0; i < collections_.size(); ++i) {
    if (!collections_[i]->saved || !IsDue(*collections_[i], stamp)) continue;
    due_[i] = true;
    any = true;
  }
  if (!any) {
    due_id_ = kNothingDue;
    return;
  }
  if (due_ids_.size() >= kMaxDueSets && !due_ids_.contains(due_)) {
    due_ids_.clear();
    ForgetNames();
  }
  due_id_ = due_ids_.try_emplace(due_, due_ids_.size() + 1).first->second;
}

bool Selector::AnythingDueAt(const Stamp& stamp) const {
  return std::ranges::any_of(collections_, [&](const auto* collection) {
    return collection->saved && IsDue(*collection, stamp);
  });
}

bool Selector::WasDue(const TensorPlan& tensor) const {
  return std::ranges::any_of(
      tensor.collections, [&](size_t i) { return i < due_.size() && due_[i]; });
}

void Selector::ForgetNames() {
  tensors_.clear();
  generation_ = NextGeneration();
}

std::shared_ptr<TensorPlan> Selector::Find(std::string_view name) {
  if (const auto it = tensors_.find(name); it != tensors_.end()) {
    return it->second;
  }
  if (tensors_.size() >= kMaxNames) ForgetNames();
  auto tensor = std::make_shared<TensorPlan>();
  tensor->name = name;
  for (size_t i = 0; i < collections_.size(); ++i) {
    if (!collections_[i]->saved || !collections_[i]->Matches(name)) continue;
    tensor->collections.push_back(i);
  }
  if (config::IsReservedName(name)) {
    tensor->is_refused = !tensor->collections.empty();
    tensor->collections.clear();
  }
  tensors_.emplace(std::string(name), tensor);
  return tensor;
}

void Selector::MakeMember(TensorPlan& tensor) {
  if (std::exchange(tensor.is_member, true)) return;
  for (const size_t i : tensor.collections) AddMember(i, tensor.name);
}

bool Selector::AnyIsDue(std::string_view prefix) {
  if (due_id_ == kNothingDue) return false;
  auto it = prefixes_.find(prefix);
  if (it == prefixes_.end()) {
    if (prefixes_.size() >= kMaxNames) prefixes_.clear();
    std::vector<size_t> matching;
    for (size_t i = 0; i < collections_.size(); ++i) {
      if (!collections_[i]->saved) continue;
      std::string name(prefix);
      bool matches = false;
      for (int number = 0; number < 100 && !matches; ++number) {
        name.resize(prefix.size());
        name += std::to_string(number);
        matches = collections_[i]->Matches(name);
      }
      if (matches) matching.push_back(i);
    }
    it = prefixes_.emplace(std::string(prefix), std::move(matching)).first;
  }
  return std::ranges::any_of(it->second, [&](size_t i) { return due_[i]; });
}

const std::shared_ptr<const Form>& Selector::FormNow(TensorPlan& tensor) {
  static const std::shared_ptr<const Form> kNothing;
  if (due_id_ == kNothingDue || tensor.collections.empty()) return kNothing;
  if (tensor.forms.size() <= due_id_) tensor.forms.resize(due_id_ + 1);
  std::shared_ptr<const Form>& form = tensor.forms[due_id_];
  if (form == nullptr) {
    std::vector<size_t> due;
    std::ranges::copy_if(tensor.collections, std::back_inserter(due),
                         [&](size_t i) { return due_[i]; });
    form = MakeForm(tensor, due);
  }
  return form->IsNothing() ? kNothing : form;
}

std::shared_ptr<const Form> Selector::Join(
    std::string_view name, std::span<const std::string_view> collections,
    const Stamp& stamp, std::shared_ptr<TensorPlan>& tensor) {
  std::vector<size_t> due;
  for (const std::string_view collection : collections) {
    const size_t position = Position(collection);
    AddMember(position, name);
    if (IsDue(*collections_[position], stamp)) due.push_back(position);
  }
  tensor = Find(name);
  MakeMember(*tensor);
  if (due.empty()) return nullptr;
  std::ranges::sort(due);
  return MakeForm(*tensor, due);
}

void Selector::Enlist(std::string_view name, std::string_view collection) {
  const bool is_new = !plan_.contains(collection);
  const size_t position = Position(collection);
  if (is_new) collections_[position]->saved = false;
  AddMember(position, name);
}

size_t Selector::Position(std::string_view collection) {
  const auto it = plan_.find(collection);
  config::PlannedCollection* const planned =
      it != plan_.end()
          ? &it->second
          : &plan_
                 .emplace(std::string(collection),
                          config::PlanNewCollection(config_, collection))
                 .first->second;
  const auto at = std::ranges::find(collections_, planned);
  if (at != collections_.end()) {
    return static_cast<size_t>(at - collections_.begin());
  }
  collections_.push_back(planned);
  changes_.made.push_back(planned->collection);
  due_.push_back(false);  // Until the next BeginStep().
  return collections_.size() - 1;
}

void Selector::AddMember(size_t position, std::string_view name) {
  Collection& collection = collections_[position]->collection;
  if (collection.tensor_names.size() >= kMaxNames) return;
  if (!collection.tensor_names.emplace(name).second) return;
  changes_.joined.push_back({collection.name, std::string(name)});
}

void Selector::TellUnmatched() {
  if (due_id_ == kNothingDue) return;
  const auto is_due = [this](std::string_view collection) {
    for (size_t i = 0; i < due_.size(); ++i) {
      if (due_[i] && collections_[i]->collection.name == collection) {
        return true;
      }
    }
    return false;
  };
  if (!unmatched_.HasWork(is_due)) return;
  std::vector<std::string_view> seen;
  seen.reserve(tensors_.size());
  for (const auto& [name, tensor] : tensors_) seen.push_back(name);
  std::vector<std::string> outputs;
  outputs.reserve(prefixes_.size());
  for (const auto& [prefix, matching] : prefixes_) {
    outputs.push_back(prefix + "0");
  }
  for (const std::string& told : unmatched_.Settle(is_due, seen, outputs)) {
    base::LogWarning("{}", told);
  }
}

std::unique_ptr<const CollectionChanges> Selector::TakeChanges() {
  if (changes_.empty()) return nullptr;
  return std::make_unique<const CollectionChanges>(std::exchange(changes_, {}));
}

std::shared_ptr<const Form> Selector::MakeForm(
    const TensorPlan& tensor, const std::vector<size_t>& due) const {
  auto form = std::make_shared<Form>();
  const config::PlannedCollection* histogram_of = nullptr;
  for (const size_t i : due) {
    const config::PlannedCollection& collection = *collections_[i];
    const ReductionConfig& asked = collection.Form();
    form->raw |= asked.save_raw_tensor;
    form->shape |= asked.save_shape;
    for (const Reduction reduction : asked.reductions) {
      if (std::ranges::find(form->reductions, reduction) !=
          form->reductions.end()) {
        continue;
      }
      form->reductions.push_back(reduction);
      form->reduction_names.push_back(config::ReductionTensorName(
          config_.framework, reduction, tensor.name));
    }
    form->scalar_in_tensorboard |= tensorboard_ && collection.scalar_like;
    const bool shows = tensorboard_ && !collection.scalar_like &&
                       collection.collection.save_histogram;
    if (shows && (histogram_of == nullptr ||
                  IsCatchAll(histogram_of->collection.name))) {
      histogram_of = &collection;
    }
  }
  form->wanted = reduce::Wanted::For(form->reductions);
  if (histogram_of != nullptr) {
    form->histogram_tag =
        record::CleanTag(histogram_of->collection.name + "/" + tensor.name);
  }
  return form;
}

}  // namespace smdebug::hook
