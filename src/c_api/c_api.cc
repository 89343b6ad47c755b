#include "smdebug/c_api.h"

#include <chrono>
#include <exception>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "smdebug/config.h"
#include "smdebug/error.h"
#include "smdebug/hook.h"
#include "smdebug/tensor.h"
#include "smdebug/version.h"

struct smdebug_hook {
  smdebug::Hook hook;
};

namespace smdebug {
namespace {

constexpr int32_t kMostDimensions = 64;

std::string& LastError() {
  thread_local std::string text;
  return text;
}

// Runs `body`; what it throws becomes the thread's last error.
template <typename Result, typename Body>
Result Guarded(Result failed, const Body& body) noexcept {
  try {
    LastError().clear();
    return body();
  } catch (const std::exception& error) {
    try {
      LastError() = error.what();
    } catch (...) {
      LastError().clear();
    }
  } catch (...) {
    LastError().clear();
  }
  return failed;
}

const Hook& Of(const smdebug_hook* hook) {
  if (hook == nullptr) throw Error("the hook is null");
  return hook->hook;
}

Hook& Of(smdebug_hook* hook) {
  return const_cast<Hook&>(Of(static_cast<const smdebug_hook*>(hook)));
}

// The same for a call of the training: what it throws is also counted.
template <typename Body>
int Done(smdebug_hook* hook, std::string_view call, const Body& body) noexcept {
  return Guarded(-1, [&] {
    Hook& own = Of(hook);
    try {
      body(own);
    } catch (const std::exception& error) {
      own.LeaveOut(call, error.what());
      throw;
    }
    return 0;
  });
}

std::string_view Text(const char* text, std::string_view what) {
  if (text == nullptr) throw Error(fmt::format("the {} is null", what));
  return text;
}

DType TypeOf(int32_t dtype) {
  const auto type = static_cast<DType>(dtype);
  const bool is_type = dtype >= 0 && dtype <= UINT8_MAX && ItemSize(type) > 0;
  if (!is_type) {
    throw ConfigError("dtype", std::to_string(dtype),
                      "one of the constants of smdebug_dtype");
  }
  return type;
}

TensorView Borrow(const smdebug_tensor* tensor) {
  if (tensor == nullptr) throw Error("the tensor is null");
  const int32_t rank = tensor->rank;
  if (rank < 0 || rank > kMostDimensions) {
    throw ConfigError("rank", std::to_string(rank),
                      fmt::format("0 to {}", kMostDimensions));
  }
  if (rank > 0 && tensor->shape == nullptr) throw Error("the shape is null");
  const auto count = static_cast<size_t>(rank);
  TensorView view{tensor->data, TypeOf(tensor->dtype), {tensor->shape, count}};
  if (tensor->strides != nullptr) view.strides = {tensor->strides, count};
  for (const int64_t length : view.shape) {
    if (length < 0) {
      throw ConfigError("shape", std::to_string(length), "at least 0");
    }
  }
  if (tensor->data == nullptr && view.size() > 0) {
    throw Error("the data is null");
  }
  return view;
}

HookConfig ConfigOf(const char* out_dir, const char* config) {
  const std::string_view text = config == nullptr ? "" : config;
  HookConfig made =
      text.empty() ? HookConfig{}
                   : ParseHookConfig(text, Framework::kNative, "configuration");
  if (out_dir != nullptr && *out_dir != '\0') made.out_dir = out_dir;
  return made;
}

}  // namespace
}  // namespace smdebug

extern "C" {

const char* smdebug_version(void) { return smdebug::kVersion; }

const char* smdebug_last_error(void) { return smdebug::LastError().c_str(); }

smdebug_hook* smdebug_open(const char* out_dir, const char* config) {
  return smdebug_open_worker(out_dir, config, 0, 1);
}

smdebug_hook* smdebug_open_worker(const char* out_dir, const char* config,
                                  int64_t rank, int64_t count) {
  return smdebug::Guarded<smdebug_hook*>(nullptr, [&] {
    if (rank < 0 || rank >= count) {
      throw smdebug::ConfigError("rank", std::to_string(rank),
                                 "0 to one less than the number of processes");
    }
    return new smdebug_hook{
        smdebug::Hook(smdebug::ConfigOf(out_dir, config),
                      smdebug::Worker::OfRank(rank, count))};
  });
}

int smdebug_close(smdebug_hook* hook) {
  if (hook == nullptr) return 0;
  const int code = smdebug::Done(hook, "smdebug_close",
                                 [](smdebug::Hook& own) { own.Close(); });
  delete hook;
  return code;
}

int smdebug_set_mode(smdebug_hook* hook, int32_t mode) {
  return smdebug::Done(hook, "smdebug_set_mode", [&](smdebug::Hook& own) {
    if (mode < SMDEBUG_MODE_TRAIN || mode > SMDEBUG_MODE_GLOBAL) {
      throw smdebug::ConfigError("mode", std::to_string(mode),
                                 "one of the constants of smdebug_mode");
    }
    own.SetMode(static_cast<smdebug::Mode>(mode));
  });
}

int smdebug_begin_step(smdebug_hook* hook) {
  return smdebug::Done(hook, "smdebug_begin_step",
                       [](smdebug::Hook& own) { own.BeginStep(); });
}

int smdebug_begin_step_at(smdebug_hook* hook, int64_t step) {
  return smdebug::Guarded(-1, [&] {
    smdebug::Hook& own = smdebug::Of(hook);
    const int64_t before = own.step();
    own.BeginStep(step);
    if (own.step() == step) return 0;
    // The hook has counted it.
    throw smdebug::Error(
        fmt::format("step {} was begun after step {}", step, before));
  });
}

int smdebug_end_step(smdebug_hook* hook) {
  return smdebug::Done(hook, "smdebug_end_step",
                       [](smdebug::Hook& own) { own.EndStep(); });
}

int smdebug_flush(smdebug_hook* hook, int64_t milliseconds) {
  return smdebug::Guarded(0, [&] {
    std::optional<std::chrono::milliseconds> timeout;
    if (milliseconds >= 0) timeout.emplace(milliseconds);
    return smdebug::Of(hook).Flush(timeout) ? 1 : 0;
  });
}

int64_t smdebug_step(const smdebug_hook* hook) {
  return smdebug::Guarded<int64_t>(-1,
                                   [&] { return smdebug::Of(hook).step(); });
}

int smdebug_step_is_due(const smdebug_hook* hook) {
  return smdebug::Guarded(
      0, [&] { return smdebug::Of(hook).StepIsDue() ? 1 : 0; });
}

int smdebug_is_due(smdebug_hook* hook, const char* name) {
  return smdebug::Guarded(0, [&] {
    return smdebug::Of(hook).IsDue(smdebug::Text(name, "name")) ? 1 : 0;
  });
}

int smdebug_save(smdebug_hook* hook, const char* name,
                 const smdebug_tensor* tensor) {
  return smdebug::Done(hook, "smdebug_save", [&](smdebug::Hook& own) {
    own.Save(smdebug::Text(name, "name"), smdebug::Borrow(tensor));
  });
}

int smdebug_save_to(smdebug_hook* hook, const char* name,
                    const smdebug_tensor* tensor, const char* collection) {
  return smdebug::Done(hook, "smdebug_save_to", [&](smdebug::Hook& own) {
    const std::string_view into = smdebug::Text(collection, "collection");
    own.SaveTensor(smdebug::Text(name, "name"), smdebug::Borrow(tensor),
                   {&into, 1});
  });
}

int smdebug_save_scalar(smdebug_hook* hook, const char* name, double value) {
  return smdebug::Done(hook, "smdebug_save_scalar", [&](smdebug::Hook& own) {
    own.SaveScalar(smdebug::Text(name, "name"), value);
  });
}

int smdebug_save_metric(smdebug_hook* hook, const char* name, double value) {
  return smdebug::Done(hook, "smdebug_save_metric", [&](smdebug::Hook& own) {
    own.SaveScalar(smdebug::Text(name, "name"), value, {.sm_metric = true});
  });
}

}  // extern "C"
