#pragma once

#include "smdebug/torch.h"

// The code of TorchHook; included by torch.h alone.
namespace smdebug {

// Puts a hook on top of this thread for as long as it runs a module.
class TorchHook::Scope {
 public:
  explicit Scope(TorchHook* hook) : before_(Running()) { Running() = hook; }
  ~Scope() { Running() = before_; }
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

 private:
  TorchHook* const before_;
};

inline TorchHook::TorchHook(HookConfig config, const Worker& worker,
                            RuntimeOptions runtime, TorchOptions options)
    : forwards_per_step_(Checked(options).forwards_per_step),
      core_(ForTorch(std::move(config)), worker, runtime) {}

inline TorchHook TorchHook::FromJsonFile(std::string_view path,
                                         const Worker& worker) {
  return TorchHook(LoadHookConfig(HookConfigPath(path), Framework::kPyTorch),
                   worker);
}

inline TorchOptions TorchHook::Checked(TorchOptions options) {
  if (options.forwards_per_step < 1) {
    throw ConfigError("forwards_per_step",
                      std::to_string(options.forwards_per_step), "1 or more");
  }
  return options;
}

inline HookConfig TorchHook::ForTorch(HookConfig config) {
  if (config.framework != Framework::kNative) return config;
  config.framework = Framework::kPyTorch;
  // What EditCollection() took from the built-in collections.
  const auto native = BuiltInCollections(Framework::kNative);
  const auto ours = BuiltInCollections(Framework::kPyTorch);
  for (Collection& collection : config.collections) {
    const auto from = native.find(collection.name);
    const auto to = ours.find(collection.name);
    if (from != native.end() && to != ours.end() &&
        collection.include_regex == from->second.include_regex) {
      collection.include_regex = to->second.include_regex;
    }
  }
  return config;
}

inline void TorchHook::RegisterModule(const torch::nn::Module& module) {
  const std::string name = internal::ClassName(module);
  std::vector<std::pair<const torch::nn::Module*, std::string>> parts;
  parts.emplace_back(&module, name);
  for (const auto& part :
       module.named_modules(/*name_prefix=*/"", /*include_self=*/false)) {
    parts.emplace_back(part.value().get(), part.key());
  }
  for (const auto& [part, path] : parts) {
    if (modules_.contains(part)) {
      throw Error("module " + path + " is already registered");
    }
  }
  // Of a module that has several names the first one counts.
  for (auto& [part, path] : parts) {
    modules_.try_emplace(part, Calls{.input_prefix = path + "_input_",
                                     .output_prefix = path + "_output_"});
  }
  Root& root = roots_.emplace_back(Root{.module = &module});
  std::unordered_set<const void*> seen;
  for (const auto& item : module.named_parameters()) {
    if (!seen.insert(item.value().unsafeGetTensorImpl()).second) continue;
    const std::string full = name + "_" + item.key();
    root.parameters.push_back({.name = TensorName(full),
                               .gradient_name = TensorName("gradient/" + full),
                               .tensor = item.value()});
  }
  for (const auto& item : module.named_buffers()) {
    if (!seen.insert(item.value().unsafeGetTensorImpl()).second) continue;
    root.buffers.emplace_back(TensorName(name + "_" + item.key()),
                              item.value());
  }
  attached_key_ = 0;
}

inline void TorchHook::AddTensorsOf(std::string_view collection,
                                    const torch::nn::Module& module,
                                    bool inputs, bool outputs) {
  const auto found = modules_.find(&module);
  if (found == modules_.end()) {
    throw Error("module " + internal::ClassName(module) +
                " is in no registered model");
  }
  if (!inputs && !outputs) {
    throw ConfigError("outputs", "false", "true unless inputs are asked for");
  }
  const std::string& prefix = found->second.input_prefix;
  const std::string name[] = {prefix.substr(0, prefix.rfind("_input_"))};
  HookConfig config = core_.config();
  EditCollection(config, collection)
      .include_regex.push_back(config::ModulePattern(name, inputs, outputs));
  if (std::ranges::find(config.include_collections, collection) ==
      config.include_collections.end()) {
    config.include_collections.emplace_back(collection);
  }
  core_.Configure(std::move(config));
}

inline void TorchHook::StartForward(const torch::nn::Module& module) {
  if (begins_steps_itself_) return;
  const auto root = std::ranges::find(roots_, &module, &Root::module);
  if (root == roots_.end()) return;
  if (++forwards_ > ForwardsOfStep()) forwards_ = 1;
  if (forwards_ == 1) StartStep(&*root, std::nullopt);
}

inline int64_t TorchHook::ForwardsOfStep() const {
  if (forwards_per_step_ == 1) return 1;
  const Mode mode = core_.mode();
  const bool gathers = mode == Mode::kTrain || mode == Mode::kGlobal;
  return gathers ? forwards_per_step_ : 1;
}

inline void TorchHook::SetMode(Mode mode) {
  devices_.Settle();
  if (mode != core_.mode()) forwards_ = 0;
  core_.SetMode(mode);
}

inline void TorchHook::BeginStep(std::optional<int64_t> number) {
  begins_steps_itself_ = true;
  forwards_ = forwards_per_step_;
  StartStep(nullptr, number);
}

inline void TorchHook::StartStep(const Root* only,
                                 std::optional<int64_t> number) {
  devices_.Settle();
  if (number) {
    core_.BeginStep(*number);
    is_due_ = core_.StepIsDue();
  } else {
    is_due_ = !core_.BeginIdleStep();
    if (is_due_) core_.BeginStep();
  }
  if (!is_due_) {
    if (is_attached_) Detach();
    return;
  }
  ++steps_begun_;
  for (Root& root : roots_) {
    if (only != nullptr && only != &root) continue;
    for (Parameter& one : root.parameters) Save(one.name, one.tensor);
    for (auto& [name, tensor] : root.buffers) Save(name, tensor);
  }
  Attach();
}

inline void TorchHook::Attach() {
  const uint64_t key = core_.due_key();
  const bool is_known = is_attached_ && key == attached_key_;
  is_attached_ = true;
  attached_key_ = key;
  for (Root& root : roots_) {
    for (Parameter& one : root.parameters) {
      if (!is_known) one.is_gradient_due = core_.IsDue(one.gradient_name);
      const bool is_wanted = one.is_gradient_due && one.tensor.requires_grad();
      if (is_wanted && one.tensor.is_leaf()) {
        internal::GradientCallback::Add(
            one.tensor, this, [this, &one](const torch::Tensor& gradient) {
              OnGradient(one, gradient);
            });
      } else if (is_wanted) {
        core_.Skip(one.gradient_name.text(), "is that of a computed parameter");
      } else if (!is_known) {
        internal::GradientCallback::Remove(one.tensor, this);
      }
    }
  }
}

inline void TorchHook::Detach() {
  is_attached_ = false;
  for (const Root& root : roots_) {
    for (const Parameter& one : root.parameters) {
      internal::GradientCallback::Remove(one.tensor, this);
    }
  }
}

inline void TorchHook::OnGradient(Parameter& parameter,
                                  const torch::Tensor& gradient) {
  if (forwards_ < ForwardsOfStep() || !core_.StepIsDue()) return;
  const torch::Tensor& before = parameter.tensor.grad();
  if (forwards_per_step_ == 1 || !before.defined() || !gradient.defined()) {
    Save(parameter.gradient_name, gradient);
    return;
  }
  torch::Tensor sum;
  const bool is_added = core_.Try(parameter.gradient_name.text(), [&] {
    const torch::NoGradGuard no_grad;
    sum = before + gradient;
  });
  if (is_added) Save(parameter.gradient_name, sum);
}

inline TorchHook::Calls* TorchHook::FindModule(
    const torch::nn::Module& module) {
  const auto found = modules_.find(&module);
  return found == modules_.end() ? nullptr : IfDue(found->second);
}

inline TorchHook::Calls& TorchHook::CallsOfLoss(const std::string& name) {
  const auto [found, is_new] = losses_.try_emplace(name);
  if (is_new) {
    found->second.input_prefix = name + "_input_";
    found->second.output_prefix = name + "_output_";
  }
  return found->second;
}

inline TorchHook::Calls* TorchHook::IfDue(Calls& calls) {
  if (calls.step != steps_begun_) {
    calls.step = steps_begun_;
    calls.inputs = 0;
    calls.outputs = 0;
  }
  if (const uint64_t key = core_.due_key(); calls.due_key != key) {
    calls.due_key = key;
    calls.is_due = core_.AnyIsDue(calls.input_prefix) ||
                   core_.AnyIsDue(calls.output_prefix);
  }
  return calls.is_due ? &calls : nullptr;
}

inline torch::Tensor TorchHook::Loss(std::string_view name,
                                     const torch::Tensor& value) {
  if (!is_due_) return value;
  Calls& calls = CallsOfLoss(std::string(name));
  IfDue(calls);  // Counts from 0 at a new step.
  const std::string full =
      calls.output_prefix + std::to_string(calls.outputs++);
  if (name.ends_with("loss") || name.ends_with("Loss")) {
    Save(full, value);
  } else {
    SaveTensor(full, value, {"losses"});
  }
  return value;
}

inline void TorchHook::SaveTensor(
    std::string_view name, const torch::Tensor& tensor,
    std::initializer_list<std::string_view> collections) {
  const std::vector<std::string> names(collections.begin(), collections.end());
  const auto save = [&](const TensorView& view) {
    core_.SaveTensor(name, view, collections);
  };
  WithValues(name, tensor, save, &names);
}

inline TorchHook::~TorchHook() {
  if (is_attached_) Detach();
  try {
    devices_.Settle();
  } catch (const std::exception&) {
    // A strict hook reports by Close(); a destructor cannot.
  }
}

inline void TorchHook::Close() {
  if (is_attached_) Detach();
  is_due_ = false;
  devices_.Settle();
  core_.Close();
}

inline void TorchHook::Save(TensorName& name, const torch::Tensor& tensor) {
  if (!core_.Offer(name)) return;
  WithValues(name.text(), tensor,
             [&](const TensorView& view) { core_.Save(name, view); });
}

inline void TorchHook::Save(const std::string& name,
                            const torch::Tensor& tensor) {
  if (!core_.Offer(name)) return;
  WithValues(name, tensor,
             [&](const TensorView& view) { core_.Save(name, view); });
}

template <typename Function>
void TorchHook::WithValues(std::string_view name, const torch::Tensor& tensor,
                           const Function& save,
                           const std::vector<std::string>* collections) {
  bool is_taken = false;
  if (devices_.MayTake(tensor)) {
    const auto take = [&] {
      is_taken = devices_.Take(name, tensor, collections);
    };
    if (!core_.Try(name, take) || is_taken) return;
  }
  std::optional<internal::PlainTensor> plain;
  if (!core_.Try(name, [&] { plain.emplace(tensor); })) return;
  if (plain->reason().empty()) {
    save(plain->view());
  } else {
    core_.Skip(name, plain->reason());
  }
}

template <typename Function, typename... Args>
auto TorchHook::Record(Calls* calls, const Function& run, Args&&... args) {
  const Scope scope(this);
  if (calls == nullptr) return run(std::forward<Args>(args)...);
  // Modules may change their inputs; what they leave is what Python sees.
  std::vector<torch::Tensor> inputs;
  const auto keep = [&](const torch::Tensor& one) { inputs.push_back(one); };
  (internal::ForEachTensor(args, keep), ...);
  auto output = run(std::forward<Args>(args)...);
  for (const torch::Tensor& one : inputs) {
    Save(calls->input_prefix + std::to_string(calls->inputs++), one);
  }
  internal::ForEachTensor(output, [&](const torch::Tensor& one) {
    Save(calls->output_prefix + std::to_string(calls->outputs++), one);
  });
  return output;
}

template <typename Model, typename... Args>
auto TorchHook::Invoke(Model& model, Args&&... args) {
  using Module = std::remove_cvref_t<decltype(internal::ModuleOf(model))>;
  if constexpr (std::is_same_v<Module, torch::nn::SequentialImpl>) {
    auto& parts = internal::ModuleOf(model);
    if (parts.is_empty()) {
      return internal::Call(model, std::forward<Args>(args)...);
    }
    auto part = parts.begin();
    auto value = RunPart(*part, std::forward<Args>(args)...);
    while (++part != parts.end()) value = RunPart(*part, std::move(value));
    return value.template get<torch::Tensor>();
  } else {
    return internal::Call(model, std::forward<Args>(args)...);
  }
}

template <typename... Args>
torch::nn::AnyValue TorchHook::RunPart(torch::nn::AnyModule& part,
                                       Args&&... args) {
  return Record(
      FindModule(*part.ptr()),
      [&](auto&&... values) {
        return part.any_forward(std::forward<Args>(values)...);
      },
      std::forward<Args>(args)...);
}

}  // namespace smdebug
