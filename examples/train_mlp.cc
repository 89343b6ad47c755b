// train_mlp <out_dir> [config.json] [--learning-rate X]: trains a small network
// on two spirals and saves losses, weights, gradients and activations with a
// smdebug hook. Without a configuration file it saves what HookConfigFor()
// below asks for. With a learning rate of 50 it goes wrong.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "smdebug/hook.h"
#include "smdebug/log.h"

namespace {

constexpr int kSteps = 600;
constexpr int kEvalEvery = 100;
constexpr int64_t kBatch = 64;
constexpr int64_t kInputs = 2;
constexpr int64_t kHidden = 32;

// A matrix in row order, which is all that a TensorView needs.
struct Matrix {
  Matrix(int64_t rows, int64_t columns)
      : shape{rows, columns},
        values(static_cast<size_t>(rows * columns), 0.0f) {}

  float& at(int64_t row, int64_t column) {
    return values[static_cast<size_t>(row * shape[1] + column)];
  }
  float at(int64_t row, int64_t column) const {
    return values[static_cast<size_t>(row * shape[1] + column)];
  }
  smdebug::TensorView view() const {
    return smdebug::ViewOf<float>(values, shape);
  }

  int64_t shape[2];
  std::vector<float> values;
};

// A fully connected layer and the gradients of its last backward pass.
struct Layer {
  Layer(std::string layer_name, int64_t inputs, int64_t outputs,
        std::mt19937& random)
      : name(std::move(layer_name)),
        weight(inputs, outputs),
        bias(1, outputs),
        weight_gradient(inputs, outputs),
        bias_gradient(1, outputs) {
    std::normal_distribution<float> normal(
        0, std::sqrt(2.0f / static_cast<float>(inputs)));
    for (float& value : weight.values) value = normal(random);
  }

  Matrix Forward(const Matrix& input) const {
    Matrix output(input.shape[0], weight.shape[1]);
    for (int64_t i = 0; i < output.shape[0]; ++i) {
      for (int64_t j = 0; j < output.shape[1]; ++j) {
        float sum = bias.at(0, j);
        for (int64_t k = 0; k < input.shape[1]; ++k) {
          sum += input.at(i, k) * weight.at(k, j);
        }
        output.at(i, j) = sum;
      }
    }
    return output;
  }

  // Takes the gradient of the output, keeps its own and returns the input's.
  Matrix Backward(const Matrix& input, const Matrix& output_gradient) {
    std::ranges::fill(weight_gradient.values, 0.0f);
    std::ranges::fill(bias_gradient.values, 0.0f);
    Matrix input_gradient(input.shape[0], input.shape[1]);
    for (int64_t i = 0; i < input.shape[0]; ++i) {
      for (int64_t j = 0; j < weight.shape[1]; ++j) {
        const float gradient = output_gradient.at(i, j);
        bias_gradient.at(0, j) += gradient;
        for (int64_t k = 0; k < weight.shape[0]; ++k) {
          weight_gradient.at(k, j) += input.at(i, k) * gradient;
          input_gradient.at(i, k) += weight.at(k, j) * gradient;
        }
      }
    }
    return input_gradient;
  }

  void Update(float learning_rate) {
    for (size_t i = 0; i < weight.values.size(); ++i) {
      weight.values[i] -= learning_rate * weight_gradient.values[i];
    }
    for (size_t i = 0; i < bias.values.size(); ++i) {
      bias.values[i] -= learning_rate * bias_gradient.values[i];
    }
  }

  std::string name;
  Matrix weight;
  Matrix bias;
  Matrix weight_gradient;
  Matrix bias_gradient;
};

Matrix Relu(Matrix values) {
  for (float& value : values.values) value = std::max(value, 0.0f);
  return values;
}

struct Batch {
  Matrix inputs{kBatch, kInputs};
  std::vector<float> labels;
};

// Points on two interleaved spirals; the label says which one.
Batch MakeBatch(std::mt19937& random) {
  Batch batch;
  std::uniform_real_distribution<float> along(0.1f, 1.0f);
  std::normal_distribution<float> noise(0, 0.02f);
  for (int64_t i = 0; i < kBatch; ++i) {
    const float label = static_cast<float>(i % 2);
    const float radius = along(random);
    const float angle = radius * 5 + label * 3.14159265f;
    batch.inputs.at(i, 0) = radius * std::cos(angle) + noise(random);
    batch.inputs.at(i, 1) = radius * std::sin(angle) + noise(random);
    batch.labels.push_back(label);
  }
  return batch;
}

class Network {
 public:
  Network(std::mt19937& random, float learning_rate)
      : learning_rate_(learning_rate),
        fc1_("fc1", kInputs, kHidden, random),
        fc2_("fc2", kHidden, kHidden, random),
        fc3_("fc3", kHidden, 1, random) {}

  // One pass over `batch`, forward and, if `train`, backward. Each tensor is
  // handed to the hook, which knows whether it is wanted.
  float Step(const Batch& batch, bool train, smdebug::Hook& hook) {
    hook.BeginStep();
    if (hook.StepIsDue()) SaveParameters(hook);
    const Matrix hidden1 = Relu(fc1_.Forward(batch.inputs));
    hook.Save("relu1_output_0", hidden1.view());
    const Matrix hidden2 = Relu(fc2_.Forward(hidden1));
    hook.Save("relu2_output_0", hidden2.view());
    const Matrix logits = fc3_.Forward(hidden2);

    float loss = 0;
    Matrix gradient(kBatch, 1);
    for (int64_t i = 0; i < kBatch; ++i) {
      const float label = batch.labels[static_cast<size_t>(i)];
      const float probability = 1 / (1 + std::exp(-logits.at(i, 0)));
      loss -= std::log(label > 0 ? probability : 1 - probability);
      gradient.at(i, 0) = (probability - label) / static_cast<float>(kBatch);
    }
    loss /= static_cast<float>(kBatch);
    hook.Save("cross_entropy_loss", smdebug::ViewOf<float>({&loss, 1}, {}));
    if (!train) return loss;

    const Matrix gradient2 =
        MaskedBy(hidden2, fc3_.Backward(hidden2, gradient));
    const Matrix gradient1 =
        MaskedBy(hidden1, fc2_.Backward(hidden1, gradient2));
    fc1_.Backward(batch.inputs, gradient1);
    for (Layer* layer : {&fc1_, &fc2_, &fc3_}) {
      hook.Save("gradient/" + layer->name + ".weight",
                layer->weight_gradient.view());
      hook.Save("gradient/" + layer->name + ".bias",
                layer->bias_gradient.view());
      layer->Update(learning_rate_);
    }
    return loss;
  }

 private:
  static Matrix MaskedBy(const Matrix& activation, Matrix gradient) {
    for (size_t i = 0; i < gradient.values.size(); ++i) {
      if (activation.values[i] <= 0) gradient.values[i] = 0;
    }
    return gradient;
  }

  void SaveParameters(smdebug::Hook& hook) const {
    for (const Layer* layer : {&fc1_, &fc2_, &fc3_}) {
      hook.Save(layer->name + ".weight", layer->weight.view());
      hook.Save(layer->name + ".bias", layer->bias.view());
    }
  }

  const float learning_rate_;
  Layer fc1_;
  Layer fc2_;
  Layer fc3_;
};

smdebug::HookConfig HookConfigFor(std::string_view out_dir) {
  smdebug::HookConfig config;
  config.out_dir = out_dir;
  config.export_tensorboard = true;
  config.include_collections = {"weights", "gradients", "relu"};
  config.save_config = smdebug::SaveConfig::Every({.save_interval = 20});

  // Losses are cheap: keep each one while training.
  smdebug::EditCollection(config, "losses").save_config =
      smdebug::SaveConfig::Every({.save_interval = 1});

  // Of the activations a few numbers tell enough.
  smdebug::Collection& relu = smdebug::EditCollection(config, "relu");
  relu.include_regex = {"relu"};
  relu.reduction_config =
      smdebug::ReductionConfig{.reductions = {{smdebug::ReductionOp::kMean},
                                              {smdebug::ReductionOp::kMax},
                                              {smdebug::ReductionOp::kStd}}};
  return config;
}

void Train(smdebug::Hook& hook, float learning_rate) {
  std::mt19937 random(7);
  Network network(random, learning_rate);
  for (int step = 0; step < kSteps; ++step) {
    hook.SetMode(smdebug::Mode::kTrain);
    const float loss = network.Step(MakeBatch(random), /*train=*/true, hook);
    hook.SaveScalar("learning_rate", static_cast<double>(learning_rate));
    if (step % kEvalEvery == 0) {
      hook.SetMode(smdebug::Mode::kEval);
      const float held_out =
          network.Step(MakeBatch(random), /*train=*/false, hook);
      std::printf("step %3d  loss %.4f  held out %.4f\n", step,
                  static_cast<double>(loss), static_cast<double>(held_out));
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> args(argv + 1, argv + argc);
  float learning_rate = 0.05f;
  if (const auto option = std::ranges::find(args, "--learning-rate");
      option != args.end() && option + 1 != args.end()) {
    learning_rate = std::strtof((option + 1)->c_str(), nullptr);
    args.erase(option, option + 2);
  }
  if (args.empty() || args.size() > 2 || !(learning_rate > 0)) {
    std::fprintf(stderr,
                 "usage: train_mlp <out_dir> [config.json] "
                 "[--learning-rate X]\n");
    return 2;
  }
  smdebug::SetLogSink(smdebug::StderrLogSink());
  try {
    smdebug::HookConfig config =
        args.size() == 2
            ? smdebug::LoadHookConfig(args[1], smdebug::Framework::kNative)
            : HookConfigFor(args[0]);
    config.out_dir = args[0];
    smdebug::Hook hook(config);
    Train(hook, learning_rate);
    hook.Close();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "train_mlp: %s\n", error.what());
    return 1;
  }
  return 0;
}
