// The fake device as a program in C++ has it: loaded, and what it counts.
#pragma once

#include <dlfcn.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace fake_device {

// libfake_device.so. Loaded before the first backward pass of the process, and
// never unloaded.
class Loaded {
 public:
  // Throws std::runtime_error.
  explicit Loaded(const std::string& library)
      : library_(dlopen(library.c_str(), RTLD_NOW)) {
    if (library_ == nullptr) throw std::runtime_error(dlerror());
  }

  // Sets the counts to 0; the calling thread is the one that trains.
  void Reset() { Find<void()>("fake_device_reset")(); }

  // Whether late copies are kept from being carried out.
  void Hold(bool on) { Find<void(int)>("fake_device_hold")(on ? 1 : 0); }

  // A count of counts.h by its name.
  int64_t Training(std::string_view name) { return Counted(name, 1); }
  int64_t Others(std::string_view name) { return Counted(name, 0); }
  int64_t Alive(std::string_view name) {
    return Find<int64_t(int)>("fake_device_alive")(
        NumberOf("fake_device_alive_name", name));
  }

  // How often the training thread waited for the device, or another did.
  int64_t Waits(bool training) {
    int64_t waits = 0;
    for (const char* name :
         {"device_to_host", "device_synchronisations",
          "stream_synchronisations", "event_synchronisations", "values"}) {
      waits += Counted(name, training ? 1 : 0);
    }
    return waits;
  }

 private:
  template <typename Function>
  Function* Find(const char* name) {
    void* const found = dlsym(library_, name);
    if (found == nullptr) throw std::runtime_error(dlerror());
    return reinterpret_cast<Function*>(found);
  }

  int64_t Counted(std::string_view name, int training) {
    return Find<int64_t(int, int)>("fake_device_count")(
        NumberOf("fake_device_count_name", name), training);
  }

  int NumberOf(const char* names, std::string_view name) {
    auto* const name_of = Find<const char*(int)>(names);
    for (int number = 0; name_of(number) != nullptr; ++number) {
      if (name_of(number) == name) return number;
    }
    throw std::runtime_error("nothing is counted as " + std::string(name));
  }

  void* const library_;
};

}  // namespace fake_device
