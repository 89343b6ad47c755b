// The hook for LibTorch on the device of tests/fake_device.
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "net.h"
#include "smdebug/trial.h"
#include "tests/fake_device/loaded.h"

namespace smdebug {
namespace {

constexpr int64_t kSteps = 7;
constexpr int64_t kInterval = 3;
const torch::Device kOnDevice(torch::kPrivateUse1, 0);

// What SMDEBUG_FAKE_DEVICE names. Never destroyed.
fake_device::Loaded& Device() {
  static auto& device =
      *new fake_device::Loaded(std::getenv("SMDEBUG_FAKE_DEVICE"));
  return device;
}

// torch::nn::Module::to() moves nothing to devices of others, so parameters are
// made in their place.
class LayerImpl : public torch::nn::Module {
 public:
  LayerImpl(int64_t inputs, int64_t outputs, torch::Device place)
      : weight_(register_parameter("weight",
                                   torch::randn({outputs, inputs}).to(place))),
        bias_(register_parameter("bias", torch::zeros({outputs}).to(place))) {}

  torch::Tensor forward(const torch::Tensor& x) {
    return torch::linear(x, weight_, bias_);
  }

 private:
  torch::Tensor weight_;
  torch::Tensor bias_;
};
TORCH_MODULE(Layer);

class TwoLayersImpl : public torch::nn::Module {
 public:
  explicit TwoLayersImpl(torch::Device place) {
    one_ = register_module("one", Layer(4, 6, place));
    two_ = register_module("two", Layer(6, 3, place));
  }

  torch::Tensor forward(const torch::Tensor& x) {
    return two_(torch::relu(one_(x)));
  }

 private:
  Watched<Layer> one_{nullptr};
  Watched<Layer> two_{nullptr};
};
TORCH_MODULE(TwoLayers);

// The values of all tensors by step and name.
using Values = std::map<std::pair<int64_t, std::string>, std::string>;

class DeviceTest : public testing::Test {
 protected:
  DeviceTest() {
    torch::set_num_threads(1);
    std::string pattern =
        (std::filesystem::temp_directory_path() / "device-XXXXXX").string();
    dir_ = mkdtemp(pattern.data());
    Device().Reset();
  }
  ~DeviceTest() override {
    Device().Hold(false);
    std::filesystem::remove_all(dir_);
  }

  std::unique_ptr<TorchHook> NewHook(
      const std::string& run,
      const std::optional<ReductionConfig>& reductions = {}) const {
    return std::make_unique<TorchHook>(HookConfig{
        .out_dir = dir_ + "/" + run,
        .reduction_config = reductions,
        .save_config = SaveConfig::Every({.save_interval = kInterval}),
        .save_all = true});
  }

  std::unique_ptr<Trial> Open(const std::string& run) const {
    return Trial::Open(dir_ + "/" + run);
  }

  Values Saved(const std::string& run) const {
    Values values;
    const auto trial = Open(run);
    for (const std::string& name : trial->TensorNames()) {
      const auto tensor = trial->tensor(name);
      for (const int64_t step : tensor.Steps()) {
        const Value value = tensor.At(step);
        values[{step, name}].assign(
            reinterpret_cast<const char*>(value.bytes().data()),
            value.bytes().size());
      }
    }
    return values;
  }

 private:
  std::string dir_;
};

// Trains, calls `after_step` after each step, and gives the weights.
template <typename AfterStep>
std::vector<torch::Tensor> Train(TorchHook* hook, torch::Device place,
                                 const AfterStep& after_step) {
  torch::manual_seed(3);
  TwoLayers net(place);
  if (hook != nullptr) hook->Register(net);
  torch::optim::SGD optimizer(net->parameters(), 0.1);
  torch::nn::CrossEntropyLoss criterion;
  for (int64_t step = 0; step < kSteps; ++step) {
    const auto batch = twin::Batch(step);
    const auto x = batch.first.to(place);
    const auto y = batch.second.to(place);
    optimizer.zero_grad();
    (hook == nullptr ? criterion(net->forward(x), y)
                     : hook->Loss(criterion, hook->Forward(net, x), y))
        .backward();
    optimizer.step();
    after_step(step);
  }
  if (hook != nullptr) hook->Close();
  std::vector<torch::Tensor> weights;
  for (const auto& weight : net->parameters()) {
    weights.push_back(weight.detach().to(torch::kCPU));
  }
  return weights;
}

std::vector<torch::Tensor> Train(TorchHook* hook, torch::Device place) {
  return Train(hook, place, [](int64_t /*step*/) {});
}

TEST_F(DeviceTest, TrainingAndWhatIsSavedAreThoseOfTheCpu) {
  const auto on_cpu = Train(NewHook("cpu").get(), torch::kCPU);
  const auto on_device = Train(NewHook("device").get(), kOnDevice);
  for (size_t i = 0; i < on_cpu.size(); ++i) {
    EXPECT_TRUE(torch::equal(on_cpu[i], on_device[i])) << i;
  }
  EXPECT_EQ(Saved("device"), Saved("cpu"));
  EXPECT_THAT(Saved("cpu"), testing::Not(testing::IsEmpty()));
  EXPECT_EQ(Device().Training("races") + Device().Others("races"), 0);
}

TEST_F(DeviceTest, TheTrainingNeverWaits) {
  int64_t waits = -1;
  const auto hook = NewHook("device");
  Train(hook.get(), kOnDevice,
        [&](int64_t /*step*/) { waits = Device().Waits(/*training=*/true); });
  EXPECT_EQ(waits, 0);
  EXPECT_GT(Device().Training("late_device_to_host"), 0);
  EXPECT_LE(Device().Waits(/*training=*/false), (kSteps - 1) / kInterval + 1);
}

TEST_F(DeviceTest, ValuesAreNotReadBeforeTheyAreThere) {
  Train(NewHook("cpu").get(), torch::kCPU);
  Train(NewHook("device").get(), kOnDevice,
        [&](int64_t step) { Device().Hold(step < kSteps - 1); });
  EXPECT_EQ(Saved("device"), Saved("cpu"));
  EXPECT_EQ(Device().Training("races") + Device().Others("races"), 0);
}

TEST_F(DeviceTest, ReductionsAreThoseOfTheCpuAndComeTogether) {
  const ReductionConfig reductions = {.reductions = {{ReductionOp::kMean},
                                                     {ReductionOp::kStd},
                                                     {ReductionOp::kL2}}};
  Train(NewHook("cpu", reductions).get(), torch::kCPU);
  Train(NewHook("device", reductions).get(), kOnDevice);
  const auto expected = Open("cpu");
  const auto got = Open("device");
  for (const std::string& name : expected->TensorNames()) {
    const auto tensor = expected->tensor(name);
    for (const int64_t step : tensor.Steps()) {
      for (const auto& [reduction, value] : tensor.ReductionValues(step)) {
        EXPECT_THAT(got->tensor(name).ReductionValue(step, reduction),
                    testing::NanSensitiveDoubleNear(value, 1e-6))
            << name << " at step " << step;
      }
    }
  }
  // With the value of the loss.
  EXPECT_LE(Device().Training("late_device_to_host"),
            2 * ((kSteps - 1) / kInterval + 1));
  EXPECT_EQ(Device().Training("races") + Device().Others("races"), 0);
}

TEST_F(DeviceTest, AClosedHookHoldsNoMemoryOfTheDevice) {
  const int64_t before = Device().Alive("bytes");
  const int64_t pinned_before = Device().Alive("pinned_bytes");
  Train(NewHook("device").get(), kOnDevice);
  EXPECT_EQ(Device().Alive("bytes"), before);
  EXPECT_EQ(Device().Alive("pinned_bytes"), pinned_before);
}

TEST_F(DeviceTest, AnIdleStepAsksNothingOfTheDevice) {
  std::vector<int64_t> asked;  // After each step.
  Train(NewHook("device").get(), kOnDevice, [&](int64_t /*step*/) {
    asked.push_back(Device().Waits(/*training=*/true) +
                    Device().Training("late_device_to_host") +
                    Device().Training("event_records") +
                    Device().Training("event_queries") +
                    Device().Training("stream_waits"));
  });
  // A step may end in the one after it.
  EXPECT_EQ(asked[2], asked[1]);
  EXPECT_EQ(asked[5], asked[4]);
}

}  // namespace
}  // namespace smdebug
