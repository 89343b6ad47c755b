#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "smdebug/rule_parameters.h"
#include "src/base/text.h"
#include "src/rules/builtin/built_in.h"
#include "src/rules/builtin/elements.h"

namespace smdebug::rules {
namespace {

// MXNet's hybridsequential0_input_0; PyTorch's <Class>_input_0 of the model,
// but not of a loss; Keras's inputs and inputs_0.
constexpr const char* kImageNames =
    ".*hybridsequential0_input_0|^(?!.*Loss)[A-Z]\\w*_input_0$|"
    "^inputs(?:_0)?$";

// Standard errors that make sure, when robust.
constexpr double kSureOfImages = 3;

// When robust, images have at least three axes, the mean is surely off, and the
// channel is not merely dark or bright: all its values are of one sign, or the
// mean is larger than their spread.
class CheckInputImages final : public Rule {
 public:
  explicit CheckInputImages(const RuleParameters& parameters)
      : selection_{.regexes = {parameters.Text("regex")}},
        threshold_(parameters.Number("threshold_mean")),
        samples_(parameters.Whole("threshold_samples")),
        axis_(parameters.Whole("channel")),
        robust_(parameters.Bool("robust")) {
    if (!parameters.IsGiven("regex")) selection_.collections = {"input_image"};
  }

  std::vector<Finding> Check(StepView& view) override {
    std::vector<Finding> findings;
    for (const std::string& name : view.Select(selection_)) {
      const auto value = view.At(name);
      if (!value || value->dtype() == DType::kString || value->size() == 0) {
        continue;
      }
      if (robust_ && value->shape().size() < 3) continue;
      Input& input = inputs_[name];
      Add(*value, input);
      if (input.samples < samples_) continue;
      for (size_t i = 0; i < input.channels.size(); ++i) {
        const double mean = input.channels[i].Mean();
        if (!IsOff(input.channels[i], input.samples)) continue;
        findings.push_back(
            {.tensor = name,
             .value = mean,
             .threshold = threshold_,
             .message = fmt::format("the mean of channel {} over {} is {:.4g}, "
                                    "further from 0 than {:.4g}",
                                    i, base::Counted(input.samples, "image"),
                                    mean, threshold_)});
        break;
      }
    }
    return findings;
  }

  std::string Lack() const override {
    return !inputs_.empty()
               ? ""
               : "needs the values of images, which this run does not save";
  }

 private:
  struct Channel {
    double count = 0;
    double sum = 0;
    double squares = 0;
    double least = std::numeric_limits<double>::infinity();
    double most = -std::numeric_limits<double>::infinity();

    void Add(double x) {
      ++count;
      sum += x;
      squares += x * x;
      least = std::fmin(least, x);
      most = std::fmax(most, x);
    }
    double Mean() const { return sum / count; }
    double Deviation() const {
      return std::sqrt(std::fmax(0, squares / count - Mean() * Mean()));
    }
  };

  struct Input {
    std::vector<Channel> channels;
    int64_t samples = 0;
  };

  void Add(const Value& value, Input& input) const {
    const auto shape = value.shape();
    const auto axis = static_cast<size_t>(axis_);
    const bool has_axis = axis < shape.size();
    const auto channels = has_axis ? static_cast<size_t>(shape[axis]) : 1;
    if (input.channels.size() != channels) {
      input = {.channels = std::vector<Channel>(channels)};
    }
    // Numbers in a row that belong to one channel.
    size_t run = 1;
    for (size_t i = axis + 1; has_axis && i < shape.size(); ++i) {
      run *= static_cast<size_t>(shape[i]);
    }
    size_t place = 0;
    ForEach(value,
            [&](double x) { input.channels[place++ / run % channels].Add(x); });
    input.samples += BatchOf(value).samples;
  }

  bool IsOff(const Channel& channel, int64_t samples) const {
    const double off = std::abs(channel.Mean());
    if (!robust_) return off > threshold_;
    const double deviation = channel.Deviation();
    const double error = deviation / std::sqrt(static_cast<double>(samples));
    const bool one_sign = channel.least >= 0 || channel.most <= 0;
    return off - kSureOfImages * error > threshold_ &&
           (one_sign || off > deviation);
  }

  TensorSelection selection_;
  const double threshold_;
  const int64_t samples_;
  const int64_t axis_;
  const bool robust_;
  std::map<std::string, Input> inputs_;
};

}  // namespace

RuleType CheckInputImagesType() {
  using Kind = RuleParameter::Kind;
  return {
      .name = "CheckInputImages",
      .summary = "Images are not normalised.",
      .parameters = {{.name = "threshold_mean",
                      .kind = Kind::kNumber,
                      .fallback = "0.2",
                      .meaning = "How far the mean of a channel may be from "
                                 "0.",
                      .least = 0},
                     {.name = "threshold_samples",
                      .kind = Kind::kWhole,
                      .fallback = "500",
                      .meaning = "Images to see before the first verdict.",
                      .least = 1},
                     {.name = "regex",
                      .fallback = kImageNames,
                      .meaning = "Name of the images."},
                     {.name = "channel",
                      .kind = Kind::kWhole,
                      .fallback = "1",
                      .meaning = "The axis that counts channels.",
                      .least = 0},
                     Robust()},
      .needs = {{"input_image",
                 {{"include_regex", ".*hybridsequential0_input_0"},
                  {"save_interval", "500"}},
                 "regex"}},
      .meaning =
          "It keeps the mean of each channel over all images since the "
          "beginning. Once threshold_samples were seen it fires where a mean "
          "is further from 0 than threshold_mean. Axis 0 counts images. A "
          "tensor without the channel's axis is one channel. It needs "
          "values.\n\n"
          "Robust: only tensors of three axes or more; the mean is further "
          "off than three standard errors more, and all values of the channel "
          "are of one sign or the mean is larger than their spread.\n\n"
          "PyTorch: `<Class>_input_0`, the input of the registered model. "
          "Keras: `inputs`. MXNet: `.*hybridsequential0_input_0`. In all of "
          "them the collection `input_image`, too.",
      .make = Make<CheckInputImages>};
}

}  // namespace smdebug::rules
