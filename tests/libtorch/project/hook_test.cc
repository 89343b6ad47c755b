#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "net.h"
#include "smdebug/guard.h"
#include "smdebug/run.h"
#include "smdebug/storage.h"
#include "smdebug/trial.h"

namespace smdebug {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;
using testing::UnorderedElementsAre;
using twin::Batch;
using twin::Net;

class TorchHookTest : public testing::Test {
 protected:
  TorchHookTest() {
    torch::set_num_threads(1);
    torch::manual_seed(3);
    std::string pattern =
        (std::filesystem::temp_directory_path() / "libtorch-XXXXXX").string();
    dir_ = mkdtemp(pattern.data());
  }
  ~TorchHookTest() override { std::filesystem::remove_all(dir_); }

  // Saves everything every `interval` steps.
  HookConfig Config(int64_t interval = 1) const {
    return {.out_dir = run(),
            .save_config = SaveConfig::Every({.save_interval = interval}),
            .save_all = true};
  }

  std::string run() const { return dir_ + "/run"; }
  std::unique_ptr<Trial> Open() const { return Trial::Open(run()); }

 private:
  std::string dir_;
};

// A training of `steps` steps; the loss of each. `hook` may be null.
std::vector<float> Train(TorchHook* hook, Net& net, int64_t steps) {
  torch::optim::SGD optimizer(net->parameters(),
                              torch::optim::SGDOptions(0.1).momentum(0.9));
  torch::nn::CrossEntropyLoss criterion;
  std::vector<float> losses;
  for (int64_t step = 0; step < steps; ++step) {
    const auto [x, y] = Batch(step);
    optimizer.zero_grad();
    auto loss = hook == nullptr
                    ? criterion(net->forward(x), y)
                    : hook->Loss(criterion, hook->Forward(net, x), y);
    loss.backward();
    optimizer.step();
    losses.push_back(loss.item<float>());
  }
  return losses;
}

// Bit for bit.
bool AreEqual(const Value& value, const torch::Tensor& tensor) {
  const auto dense = tensor.detach().contiguous();
  return value.bytes().size() == dense.nbytes() &&
         std::memcmp(value.bytes().data(), dense.data_ptr(), dense.nbytes()) ==
             0;
}

size_t CallbacksOn(const torch::Tensor& tensor) {
  const auto* meta = torch::autograd::impl::get_autograd_meta(tensor);
  return meta == nullptr ? 0 : meta->hooks_.size();
}

TEST_F(TorchHookTest, NamesAreThoseOfThePythonHook) {
  Net net;
  {
    TorchHook hook(Config());
    hook.Register(net);
    Train(&hook, net, 1);
  }
  EXPECT_THAT(
      Open()->TensorNames(),
      UnorderedElementsAre(
          "Net_scale", "Net_frozen", "Net_child.lin.weight",
          "Net_child.lin.bias", "Net_norm.weight", "Net_norm.bias",
          "Net_tail.0.weight", "Net_tail.0.bias", "Net_tail.2.weight",
          "Net_norm.running_mean", "Net_norm.running_var",
          "Net_norm.num_batches_tracked", "child.lin_input_0",
          "child.lin_output_0", "child.act_input_0", "child.act_output_0",
          "child_input_0", "child_output_0", "norm_input_0", "norm_output_0",
          "relu_input_0", "relu_output_0", "relu_input_1", "relu_output_1",
          "tail.0_input_0", "tail.0_output_0", "tail.1_input_0",
          "tail.1_output_0", "tail.2_input_0", "tail.2_output_0",
          "tail_input_0", "tail_output_0", "Net_input_0", "Net_output_0",
          "CrossEntropyLoss_input_0", "CrossEntropyLoss_input_1",
          "CrossEntropyLoss_output_0", "gradient/Net_scale",
          "gradient/Net_child.lin.weight", "gradient/Net_child.lin.bias",
          "gradient/Net_norm.weight", "gradient/Net_norm.bias",
          "gradient/Net_tail.0.weight", "gradient/Net_tail.0.bias",
          "gradient/Net_tail.2.weight"));
}

TEST_F(TorchHookTest, SavesLossesWithoutBeingTold) {
  Net net;
  {
    TorchHook hook({.out_dir = run()});
    hook.Register(net);
    Train(&hook, net, 2);
  }
  EXPECT_THAT(Open()->TensorNames(), ElementsAre("CrossEntropyLoss_output_0"));
  EXPECT_THAT(Open()->Steps(), ElementsAre(0));
}

TEST_F(TorchHookTest, CollectionsEditedByDefaultAreThoseOfPyTorch) {
  HookConfig config{.out_dir = run()};
  EditCollection(config, "losses").save_histogram = false;
  TorchHook hook(config);
  EXPECT_EQ(hook.core().GetCollection("losses")->include_regex,
            BuiltInCollections(Framework::kPyTorch).at("losses").include_regex);
}

TEST_F(TorchHookTest, ACollectionTakesTheTensorsOfOneModule) {
  // "1" is also the end of "11", and a module in the middle of a pattern.
  torch::nn::Sequential net;
  for (int i = 0; i < 12; ++i) net->push_back(torch::nn::Linear(3, 3));
  {
    TorchHook hook({.out_dir = run(),
                    .save_config = SaveConfig::Every({.save_interval = 1})});
    hook.Register(net);
    hook.AddModuleTensors("mine", *net->ptr(1), /*inputs=*/true);
    hook.AddModuleTensors("mine", *net->ptr(3), true, false);
    hook.AddModuleTensors("whole", net);
    EXPECT_THROW(hook.AddModuleTensors("mine", torch::nn::Linear(3, 3)), Error);
    EXPECT_THROW(hook.AddModuleTensors("mine", net, false, false), ConfigError);
    hook.Forward(net, torch::ones({2, 3}));
    EXPECT_THROW(hook.AddModuleTensors("mine", net), Error);
  }
  const auto trial = Open();
  EXPECT_THAT(trial->TensorNames({.collection = "mine"}),
              UnorderedElementsAre("1_input_0", "1_output_0", "3_input_0"));
  EXPECT_THAT(trial->TensorNames(),
              UnorderedElementsAre("1_input_0", "1_output_0", "3_input_0",
                                   "Sequential_output_0"));
}

TEST_F(TorchHookTest, TrainingIsBitIdentical) {
  Net bare;
  const auto expected = Train(nullptr, bare, 7);
  torch::manual_seed(3);
  Net watched;
  std::vector<float> losses;
  {
    TorchHook hook(Config(2));
    hook.Register(watched);
    losses = Train(&hook, watched, 7);
  }
  EXPECT_EQ(losses, expected);
  for (size_t i = 0; i < bare->parameters().size(); ++i) {
    EXPECT_TRUE(bare->parameters()[i].equal(watched->parameters()[i]));
  }
  EXPECT_THAT(Open()->Steps(), ElementsAre(0, 2, 4, 6));
}

TEST_F(TorchHookTest, ParametersAreThoseBeforeTheStepAndGradientsItsOwn) {
  Net net;
  TorchHook hook(Config());
  hook.Register(net);
  const auto [x, y] = Batch(0);
  const auto before = net->parameters()[0].clone();
  hook.Loss(torch::nn::CrossEntropyLoss(), hook.Forward(net, x), y).backward();
  const auto gradient = net->parameters()[0].grad();
  {
    const torch::NoGradGuard no_grad;
    net->parameters()[0].add_(1);
  }
  hook.Close();
  EXPECT_TRUE(AreEqual(Open()->tensor("Net_scale").At(0), before));
  EXPECT_TRUE(AreEqual(Open()->tensor("gradient/Net_scale").At(0), gradient));
}

TEST_F(TorchHookTest, NothingIsAttachedAtIdleSteps) {
  Net net;
  TorchHook hook(Config(3));
  hook.Register(net);
  const auto weight = net->parameters()[2];
  const auto [x, y] = Batch(0);
  std::vector<size_t> callbacks;
  for (int step = 0; step < 7; ++step) {
    hook.Forward(net, x).sum().backward();
    callbacks.push_back(CallbacksOn(weight));
  }
  EXPECT_THAT(callbacks, ElementsAre(1, 0, 0, 1, 0, 0, 1));
  hook.Close();
  EXPECT_EQ(CallbacksOn(weight), 0);
  EXPECT_EQ(TorchHook::running(), nullptr);
  hook.Forward(net, x).sum().backward();
}

TEST_F(TorchHookTest, LeavesTheCallbacksOfOthersAlone) {
  Net net;
  TorchHook hook(Config(2));
  hook.Register(net);
  auto weight = net->parameters()[2];
  const auto [x, y] = Batch(0);
  hook.Forward(net, x);
  int calls = 0;
  weight.register_hook([&](torch::Tensor) { ++calls; });
  for (int step = 1; step < 6; ++step) hook.Forward(net, x).sum().backward();
  hook.Close();
  EXPECT_EQ(calls, 5);
  EXPECT_THAT(Open()->tensor("gradient/Net_child.lin.weight").Steps(),
              ElementsAre(2, 4));
}

TEST_F(TorchHookTest, ModesCountTheirOwnSteps) {
  Net net;
  TorchHook hook(Config(2));
  hook.Register(net);
  const auto [x, y] = Batch(0);
  for (int epoch = 0; epoch < 2; ++epoch) {
    hook.SetMode(Mode::kTrain);
    net->train();
    for (int i = 0; i < 3; ++i) hook.Forward(net, x).sum().backward();
    hook.SetMode(Mode::kEval);
    net->eval();
    const torch::NoGradGuard no_grad;
    hook.Forward(net, x);
  }
  hook.Close();
  EXPECT_THAT(Open()->Steps(Mode::kTrain), ElementsAre(0, 2, 4));
  EXPECT_THAT(Open()->Steps(Mode::kEval), ElementsAre(0));
  EXPECT_THAT(
      Open()->TensorNames({.step = 0, .mode = Mode::kEval}),
      AllOf(Contains("Net_output_0"), Not(Contains("gradient/Net_scale"))));
}

TEST_F(TorchHookTest, AccumulatedGradientsAreAddedUp) {
  Net net;
  TorchHook hook(Config(), {}, {}, {.forwards_per_step = 2});
  hook.Register(net);
  for (int64_t step = 0; step < 2; ++step) {
    net->zero_grad();
    for (int64_t i = 0; i < 2; ++i) {
      hook.Forward(net, Batch(i).first).sum().backward();
    }
  }
  hook.Close();
  EXPECT_THAT(Open()->Steps(), ElementsAre(0, 1));
  EXPECT_TRUE(AreEqual(Open()->tensor("gradient/Net_scale").At(1),
                       net->parameters()[0].grad()));
}

TEST_F(TorchHookTest, EvaluationAccumulatesNothing) {
  Net net;
  TorchHook hook(Config(), {}, {}, {.forwards_per_step = 2});
  hook.Register(net);
  for (int64_t epoch = 0; epoch < 2; ++epoch) {
    hook.SetMode(Mode::kTrain);
    for (int64_t i = 0; i < 3; ++i) hook.Forward(net, Batch(i).first);
    hook.SetMode(Mode::kEval);
    for (int64_t i = 0; i < 3; ++i) hook.Forward(net, Batch(i).first);
  }
  hook.Close();
  EXPECT_THAT(Open()->Steps(Mode::kTrain), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(Open()->Steps(Mode::kEval), ElementsAre(0, 1, 2, 3, 4, 5));
}

TEST_F(TorchHookTest, TrainersMayBeginStepsThemselves) {
  Net first;
  torch::nn::Linear second(4, 2);
  TorchHook hook(Config());
  hook.Register(first);
  hook.Register(*second);
  const auto [x, y] = Batch(0);
  for (const int64_t step : {5, 10}) {
    hook.BeginStep(step);
    hook.Forward(first, x);
    hook.Forward(second, x);
  }
  hook.Close();
  EXPECT_THAT(Open()->Steps(), ElementsAre(5, 10));
  EXPECT_THAT(Open()->TensorNames({.step = 10}),
              AllOf(Contains("Linear_weight"), Contains("Linear_output_0"),
                    Contains("Net_scale"), Contains("Net_output_0")));
}

TEST_F(TorchHookTest, LossesAreInTheirCollectionWhateverTheirName) {
  TorchHook hook({.out_dir = run()});
  hook.BeginStep();
  hook.Loss("nll_loss", torch::ones({}));
  hook.Loss("nll_loss", torch::zeros({}));
  EXPECT_EQ(hook.Loss("penalty", torch::ones({})).item<int>(), 1);
  hook.Close();
  EXPECT_THAT(Open()->TensorNames({.collection = "losses"}),
              ElementsAre("nll_loss_output_0", "nll_loss_output_1",
                          "penalty_output_0"));
}

// Anything but floats, in and out.
class KindsImpl : public torch::nn::Module {
 public:
  std::pair<torch::Tensor, std::vector<torch::Tensor>> forward(
      const std::tuple<torch::Tensor, int>& both,
      const std::optional<torch::Tensor>& absent,
      const torch::Tensor& undefined) {
    const auto& x = std::get<0>(both);
    EXPECT_FALSE(absent.has_value() || undefined.defined());
    return {x.t(),
            {x.to(torch::kBFloat16), x.to(torch::kHalf), x.to_sparse(),
             x.to(torch::kBool), torch::complex(x, x).conj(),
             torch::quantize_per_tensor(x, 0.5, 0, torch::kQInt8),
             torch::empty({0, 3}), torch::empty({2}, torch::kMeta)}};
  }
};
TORCH_MODULE(Kinds);

TEST_F(TorchHookTest, SavesTensorsOfEveryKindAndCountsTheRest) {
  Kinds kinds;
  const auto x = torch::arange(-3, 3, torch::kFloat32).view({2, 3});
  TorchHook hook(Config());
  hook.Register(kinds);
  hook.Forward(kinds, std::make_tuple(x, 5), std::nullopt, torch::Tensor());
  hook.Close();
  const auto trial = Open();
  const auto output = [&](int i) {
    return trial->tensor("Kinds_output_" + std::to_string(i)).At(0);
  };
  EXPECT_TRUE(AreEqual(trial->tensor("Kinds_input_0").At(0), x));
  EXPECT_FALSE(trial->HasTensor("Kinds_input_1"));
  EXPECT_THAT(output(0).shape(), ElementsAre(3, 2));
  EXPECT_TRUE(AreEqual(output(0), x.t()));
  EXPECT_EQ(output(1).dtype(), DType::kBfloat16);
  EXPECT_EQ(output(2).dtype(), DType::kFloat16);
  EXPECT_TRUE(AreEqual(output(3), x));
  EXPECT_TRUE(AreEqual(output(4), x.to(torch::kBool)));
  EXPECT_TRUE(AreEqual(output(5), torch::complex(x, -x)));
  EXPECT_TRUE(AreEqual(output(6), x));
  EXPECT_THAT(trial->tensor("Kinds_output_7").Shape(0), ElementsAre(0, 3));
  EXPECT_FALSE(trial->HasTensor("Kinds_output_8"));
  EXPECT_EQ(hook.core().stats().skipped, 1);
}

// An embedding whose gradient is sparse, and a parameter without one.
class SparseImpl : public torch::nn::Module {
 public:
  SparseImpl() {
    words = register_module(
        "words",
        torch::nn::Embedding(torch::nn::EmbeddingOptions(5, 2).sparse(true)));
    register_parameter("idle", torch::ones({1}));
  }
  torch::Tensor forward(const torch::Tensor& x) { return words(x).sum(); }

 private:
  torch::nn::Embedding words{nullptr};
};
TORCH_MODULE(Sparse);

TEST_F(TorchHookTest, GradientsMayBeSparseOrMissing) {
  Sparse model;
  TorchHook hook(Config());
  hook.Register(model);
  hook.Forward(model, torch::arange(3)).backward();
  hook.Close();
  EXPECT_TRUE(AreEqual(Open()->tensor("gradient/Sparse_words.weight").At(0),
                       model->parameters()[1].grad().to_dense()));
  EXPECT_FALSE(Open()->HasTensor("gradient/Sparse_idle"));
  EXPECT_EQ(hook.core().stats().skipped, 0);
}

TEST_F(TorchHookTest, WhatAModelThrowsGoesToItsCallerAndNothingElseDoes) {
  Net net;
  TorchHook hook(Config());
  hook.Register(net);
  EXPECT_THROW(hook.Forward(net, torch::ones({1, 9})), c10::Error);
  EXPECT_EQ(TorchHook::running(), nullptr);
  hook.Forward(net, Batch(0).first).sum().backward();
  hook.Close();
  EXPECT_TRUE(Open()->tensor("Net_output_0").Steps() ==
              std::vector<int64_t>{1});
}

TEST_F(TorchHookTest, RefusesAStepWithoutForwardPasses) {
  EXPECT_THROW(TorchHook(Config(), {}, {}, {.forwards_per_step = 0}),
               ConfigError);
  EXPECT_FALSE(std::filesystem::exists(run()));
}

TEST_F(TorchHookTest, AModelIsRegisteredOnce) {
  Net net;
  TorchHook hook(Config());
  hook.Register(net);
  EXPECT_THROW(hook.Register(net), Error);
  EXPECT_THROW(hook.Register(net->named_children()["tail"]), Error);
}

TEST_F(TorchHookTest, ASharedModuleIsSavedOnceUnderItsFirstName) {
  torch::nn::Linear first(2, 2);
  torch::nn::Sequential both;
  both->push_back(first);
  both->push_back(first);
  TorchHook hook(Config());
  hook.Register(both);
  hook.Forward(both, torch::ones({1, 2})).sum().backward();
  hook.Close();
  EXPECT_THAT(Open()->TensorNames(),
              UnorderedElementsAre(
                  "Sequential_0.weight", "Sequential_0.bias", "0_input_0",
                  "0_output_0", "0_input_1", "0_output_1", "Sequential_input_0",
                  "Sequential_output_0", "gradient/Sequential_0.weight",
                  "gradient/Sequential_0.bias"));
}

TEST_F(TorchHookTest, TensorsOfTheTrainersOwnGoIntoTheirCollections) {
  Net net;
  TorchHook hook(Config());
  hook.Register(net);
  hook.Forward(net, Batch(0).first);
  hook.SaveTensor("labels", Batch(0).second, {"truth"});
  hook.SaveScalar("rate", 0.5);
  hook.Close();
  EXPECT_THAT(Open()->TensorNames({.collection = "truth"}),
              ElementsAre("labels"));
  EXPECT_EQ(Open()->tensor("scalar/rate").At(0).Get(0), 0.5);
}

TEST_F(TorchHookTest, RulesInsideTheHookSeeWhatItSaves) {
  Net net;
  TorchHook hook(Config());
  hook.Register(net);
  const RuleGuard guard(hook.core(),
                        {ToEvaluation(ParseRuleSpec("ExplodingTensor"))});
  for (int64_t step = 0; step < 3; ++step) {
    auto x = Batch(step).first;
    if (step == 2) x[0][0] = std::numeric_limits<float>::infinity();
    hook.Forward(net, x).sum().backward();
  }
  hook.Close();
  EXPECT_EQ(guard.fired_rules(), 1);
  const auto report = guard.reports().at(0);
  EXPECT_THAT(report.fired_steps, ElementsAre(2));
  ASSERT_THAT(report.findings, Not(IsEmpty()));
}

struct PlainModule : torch::nn::Module {};
template <typename T>
struct TemplateImpl : torch::nn::Module {};
struct NamedModule : torch::nn::Module {
  NamedModule() : torch::nn::Module("Resnet") {}
};

TEST(ClassNameTest, IsThatOfPython) {
  EXPECT_EQ(internal::ClassName(torch::nn::LinearImpl(1, 1)), "Linear");
  EXPECT_EQ(internal::ClassName(PlainModule()), "PlainModule");
  EXPECT_EQ(internal::ClassName(TemplateImpl<std::vector<int>>()), "Template");
  EXPECT_EQ(internal::ClassName(NamedModule()), "Resnet");
}

TEST_F(TorchHookTest, AStrictHookDoesNotThrowFromItsDestructor) {
  Net net;
  {
    TorchHook hook(Config(), {}, {.strict = true});
    hook.Register(net);
    // A file where a folder is to be: nothing can be written any more.
    std::filesystem::remove_all(run());
    std::ofstream(run()) << "in the way";
    EXPECT_ANY_THROW({
      Train(&hook, net, 3);
      hook.Close();
    });
  }
  std::filesystem::remove(run());
  {
    TorchHook hook(Config(), {}, {.strict = true});
    hook.Register(net);
    std::filesystem::remove_all(run());
    std::ofstream(run()) << "in the way";
    hook.BeginStep();
    hook.SaveTensor("x", torch::ones(2), {"mine"});
  }  // The end of the process, if this throws.
}

TEST_F(TorchHookTest, ATrainingThatThrowsLeavesAFailedRun) {
  Net net;
  EXPECT_THROW(
      {
        TorchHook hook(Config());
        hook.Register(net);
        Train(&hook, net, 1);
        throw std::runtime_error("boom");
      },
      std::runtime_error);
  EXPECT_EQ(LookAtRun(*OpenStorage(run())).state, RunState::kFailed);
}

}  // namespace
}  // namespace smdebug
