#include "src/run/run_id.h"

#include <array>
#include <cstdint>
#include <random>

#include <fmt/format.h>

#include "src/base/variables.h"

namespace smdebug::run {

std::string NewRunId() {
  std::random_device device;
  std::array<uint32_t, 4> bits{};
  for (uint32_t& word : bits) word = device();
  // Version 4, variant 1.
  bits[1] = (bits[1] & 0xffff0fffU) | 0x4000U;
  bits[2] = (bits[2] & 0x3fffffffU) | 0x80000000U;
  return fmt::format("{:08x}-{:04x}-{:04x}-{:04x}-{:04x}{:08x}", bits[0],
                     bits[1] >> 16, bits[1] & 0xffffU, bits[2] >> 16,
                     bits[2] & 0xffffU, bits[3]);
}

std::string RunIdFromEnvironment() {
  return base::ReadVariable("SMDEBUG_RUN_ID");
}

}  // namespace smdebug::run
