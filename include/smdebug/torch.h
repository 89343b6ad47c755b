#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include <torch/torch.h>

#include "smdebug/config.h"
#include "smdebug/error.h"
#include "smdebug/hook.h"
#include "smdebug/internal/class_patterns.h"
#include "smdebug/internal/torch_device.h"
#include "smdebug/internal/torch_gradient.h"
#include "smdebug/internal/torch_tensor.h"

namespace smdebug {

struct TorchOptions {
  // Where gradients are accumulated: how many forward passes make a step. The
  // gradients of its last one are saved with what was gathered before. In kEval
  // and kPredict each one is a step.
  int64_t forwards_per_step = 1;
};

// Saves parameters, buffers, gradients, inputs and outputs of LibTorch's
// modules, and losses, under the names of the hook for PyTorch in Python:
//
//   smdebug::TorchHook hook({.out_dir = "run", .save_all = true});
//   hook.Register(model);
//   for (...) {
//     auto output = hook.Forward(model, input);            // Begins a step.
//     auto loss = hook.Loss(torch::nn::CrossEntropyLoss(), output, target);
//     loss.backward();
//     optimizer.step();
//   }
//
// Modules in C++ have no callbacks. So what is inside a model is seen if it is
// called through Watch(), is a Watched<> member, or is in a Sequential that is
// called in one of these ways, or by Forward().
//
// A step at which nothing is saved costs one look at the schedule: nothing of
// the hook is attached to the model. What is computed is not changed.
//
// The constructor throws as that of Hook does. After that nothing is thrown
// into training, but what modules throw themselves (and, if `strict`, what
// would be counted): a tensor that cannot be saved is counted and logged once.
//
// The hook keeps the tensors of its models alive; a model that ends before the
// hook is not called again. One thread at a time, except that gradients may
// come on the threads of LibTorch.
class TorchHook {
 public:
  // A configuration of Framework::kNative is taken as one of kPyTorch.
  explicit TorchHook(HookConfig config, const Worker& worker = {},
                     RuntimeOptions runtime = RuntimeOptions::FromEnvironment(),
                     TorchOptions options = {});

  // From the JSON file at HookConfigPath(path).
  static TorchHook FromJsonFile(std::string_view path = {},
                                const Worker& worker = {});

  TorchHook(const TorchHook&) = delete;
  TorchHook& operator=(const TorchHook&) = delete;

  // Closes as the destructor of Hook does.
  ~TorchHook();

  // Watches a model: a module, a ModuleHolder or a pointer. What is in it goes
  // by its dotted name, parameters with the class of the model in front. Throws
  // Error if it, or a part of it, is registered already.
  template <typename Model>
  void Register(Model&& model) {
    RegisterModule(internal::ModuleOf(model));
  }

  // Puts the inputs or outputs of a part of a registered model, and no other
  // tensors, into `collection`, which is made if missing and saved from then
  // on. Before the first step. Throws Error for what is in no registered model,
  // ConfigError if neither is asked for, and as Hook::Configure() does.
  template <typename Module>
  void AddModuleTensors(std::string_view collection, Module&& module,
                        bool inputs = false, bool outputs = true) {
    AddTensorsOf(collection, internal::ModuleOf(module), inputs, outputs);
  }

  // Runs `forward` of a module and saves its inputs and outputs. For a
  // registered model this begins a step, unless BeginStep() does.
  template <typename Model, typename... Args>
  auto Forward(Model&& model, Args&&... args) {
    StartForward(internal::ModuleOf(model));
    return Run(model, std::forward<Args>(args)...);
  }

  // Runs a loss and saves its inputs and outputs under the name of its class.
  template <typename Module, typename... Args>
  requires(!std::is_convertible_v<Module, std::string_view>) auto Loss(
      Module&& criterion, Args&&... args) {
    if (!is_due_) return internal::Call(criterion, std::forward<Args>(args)...);
    return Record(
        IfDue(CallsOfLoss(internal::ClassName(internal::ModuleOf(criterion)))),
        [&](auto&&... values) {
          return internal::Call(criterion, std::forward<Args>(values)...);
        },
        std::forward<Args>(args)...);
  }

  // Saves a loss that was computed as "<name>_output_<i>", counted within the
  // step, in the collection losses; returns it.
  torch::Tensor Loss(std::string_view name, const torch::Tensor& value);

  // Begins a step, for trainers whose steps are not forward passes of one
  // model: from then on Forward() begins none. The parameters of all models are
  // saved. A `number` is as in Hook::BeginStep(number).
  void BeginStep(std::optional<int64_t> number = {});

  // As in Hook.
  void SetMode(Mode mode);
  void SaveScalar(std::string_view name, double value,
                  const ScalarOptions& options = {}) {
    core_.SaveScalar(name, value, options);
  }

  // Saves a tensor of the trainer's own at the current step, if one of the
  // collections is due.
  void SaveTensor(std::string_view name, const torch::Tensor& tensor,
                  std::initializer_list<std::string_view> collections = {
                      "default"});

  // Takes everything off the models, and closes the core's hook.
  void Close();

  // For what is the same in every trainer: rules, collections, numbers.
  Hook& core() {
    devices_.Settle();
    return core_;
  }

  // Runs a module; saves inputs and outputs if it is part of a registered model
  // and they are due.
  template <typename Model, typename... Args>
  auto Run(Model&& model, Args&&... args) {
    if (!is_due_) return internal::Call(model, std::forward<Args>(args)...);
    return Record(
        FindModule(internal::ModuleOf(model)),
        [&](auto&&... values) {
          return Invoke(model, std::forward<Args>(values)...);
        },
        std::forward<Args>(args)...);
  }

  // The hook whose step runs on this thread; null if none of it is saved.
  static TorchHook* running() noexcept { return Running(); }

 private:
  class Scope;

  struct Parameter {
    TensorName name;
    TensorName gradient_name;
    torch::Tensor tensor;
    bool is_gradient_due = false;
  };

  struct Root {
    const torch::nn::Module* module;
    std::vector<Parameter> parameters = {};
    std::vector<std::pair<TensorName, torch::Tensor>> buffers = {};
  };

  // The calls of a module, or of a loss.
  struct Calls {
    std::string input_prefix;
    std::string output_prefix;
    int64_t inputs = 0;  // In this step.
    int64_t outputs = 0;
    int64_t step = -1;
    uint64_t due_key = 0;  // What `is_due` was found for.
    bool is_due = false;
  };

  __attribute__((visibility("default"))) static TorchHook*& Running() noexcept {
    static thread_local TorchHook* running = nullptr;
    return running;
  }

  static TorchOptions Checked(TorchOptions options);
  static HookConfig ForTorch(HookConfig config);
  void RegisterModule(const torch::nn::Module& module);
  void AddTensorsOf(std::string_view collection,
                    const torch::nn::Module& module, bool inputs, bool outputs);
  void StartForward(const torch::nn::Module& module);
  void StartStep(const Root* only, std::optional<int64_t> number);
  Calls* FindModule(const torch::nn::Module& module);
  Calls& CallsOfLoss(const std::string& name);
  Calls* IfDue(Calls& calls);
  void Attach();
  void Detach();
  void OnGradient(Parameter& parameter, const torch::Tensor& gradient);
  void Save(TensorName& name, const torch::Tensor& tensor);
  void Save(const std::string& name, const torch::Tensor& tensor);

  // Hands the values of `tensor` to `save`, or counts why there are none; those
  // that are on a device are saved when they have come.
  template <typename Function>
  void WithValues(std::string_view name, const torch::Tensor& tensor,
                  const Function& save,
                  const std::vector<std::string>* collections = nullptr);

  // Gives what `run` gives for `args`, and saves both if `calls` is not null.
  template <typename Function, typename... Args>
  auto Record(Calls* calls, const Function& run, Args&&... args);

  // Runs a module, one after the other those of a Sequential.
  template <typename Model, typename... Args>
  auto Invoke(Model& model, Args&&... args);

  template <typename... Args>
  torch::nn::AnyValue RunPart(torch::nn::AnyModule& part, Args&&... args);

  // How many calls of Forward() the current step has.
  int64_t ForwardsOfStep() const;

  const int64_t forwards_per_step_;
  Hook core_;
  internal::TorchDevices devices_{&core_};
  std::deque<Root> roots_;
  std::unordered_map<const torch::nn::Module*, Calls> modules_;
  std::map<std::string, Calls> losses_;
  int64_t forwards_ = 0;     // In this step.
  int64_t steps_begun_ = 0;  // At which something was due.
  bool begins_steps_itself_ = false;
  bool is_due_ = false;
  bool is_attached_ = false;
  uint64_t attached_key_ = 0;
};

// Calls a module inside the forward pass of a model: Watch(fc1)(x). Its inputs
// and outputs are saved if the model is run by a hook that it is registered
// with, and they are due. Otherwise this is fc1(x).
template <typename Model>
auto Watch(Model& model) {
  return [&model]<typename... Args>(Args&&... args) {
    TorchHook* hook = TorchHook::running();
    if (hook != nullptr) return hook->Run(model, std::forward<Args>(args)...);
    return internal::Call(model, std::forward<Args>(args)...);
  };
}

// A module whose calls are watched, for members of a model:
//
//   smdebug::Watched<torch::nn::Linear> fc1{nullptr};
//
// is used as torch::nn::Linear is; fc1(x) is Watch(fc1)(x).
template <typename Holder>
class Watched : public Holder {
 public:
  using Holder::Holder;
  Watched(Holder holder) : Holder(std::move(holder)) {}

  template <typename... Args>
  auto operator()(Args&&... args) {
    return Watch<Holder>(*this)(std::forward<Args>(args)...);
  }
};

}  // namespace smdebug

#include "smdebug/internal/torch-inl.h"
