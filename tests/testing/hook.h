#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "smdebug/hook.h"

// Short ways to drive a hook in a test.
namespace smdebug::testing {

// Hooks on a store in memory.
class HookFixture : public ::testing::Test {
 protected:
  std::unique_ptr<Hook> Open(HookConfig config, RuntimeOptions runtime = {},
                             const Worker& worker = {}) {
    return std::make_unique<Hook>(std::move(config), worker, runtime, storage_,
                                  nullptr);
  }

  std::shared_ptr<Storage> storage_ = OpenMemoryStorage();
};

// A configuration that saves every tensor at every step.
inline HookConfig SaveEverything(std::string_view out_dir = "unused") {
  HookConfig config;
  config.out_dir = out_dir;
  config.save_all = true;
  config.save_config = SaveConfig::Every({.save_interval = 1});
  return config;
}

// Saves a vector of floats.
inline void SaveFloats(Hook& hook, std::string_view name,
                       const std::vector<float>& values) {
  const int64_t shape[] = {static_cast<int64_t>(values.size())};
  hook.Save(name, ViewOf<float>(values, shape));
}

inline void SaveFloatsTo(Hook& hook, std::string_view name,
                         const std::vector<float>& values,
                         std::initializer_list<std::string_view> collections) {
  const int64_t shape[] = {static_cast<int64_t>(values.size())};
  hook.SaveTensor(name, ViewOf<float>(values, shape), collections);
}

inline void SaveFloatsForNextStep(
    Hook& hook, std::string_view name, const std::vector<float>& values,
    std::initializer_list<std::string_view> collections) {
  const int64_t shape[] = {static_cast<int64_t>(values.size())};
  hook.SaveTensorForNextStep(name, ViewOf<float>(values, shape), collections);
}

}  // namespace smdebug::testing
