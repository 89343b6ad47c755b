#include "counts.h"

#include <array>
#include <atomic>
#include <thread>

#include <torch/csrc/autograd/graph_task.h>

namespace fake_device {
namespace {

constexpr auto kCounts = static_cast<size_t>(Count::kNumCounts);
constexpr auto kAlive = static_cast<size_t>(Alive::kNumAlive);

std::array<std::array<std::atomic<int64_t>, kCounts>, 2> counts;
std::array<std::atomic<int64_t>, kAlive> alive;
std::atomic<std::thread::id> training_thread = std::this_thread::get_id();

constexpr std::array<const char*, kCounts> kCountNames = {
    "host_to_device",
    "host_to_device_bytes",
    "device_to_host",
    "device_to_host_bytes",
    "late_device_to_host",
    "late_device_to_host_bytes",
    "device_synchronisations",
    "stream_synchronisations",
    "event_synchronisations",
    "event_queries",
    "event_records",
    "stream_waits",
    "values",
    "allocations",
    "pinned_allocations",
    "races"};

constexpr std::array<const char*, kAlive> kAliveNames = {
    "allocations", "bytes", "pinned_allocations", "pinned_bytes",
    "late_copies"};

// A backward pass runs on threads of its own, for which the training waits.
bool OnTrainingThread() {
  return std::this_thread::get_id() == training_thread.load() ||
         torch::autograd::get_current_graph_task_id() != -1;
}

}  // namespace

void Add(Count what, int64_t number) {
  counts[OnTrainingThread() ? 1 : 0][static_cast<size_t>(what)] += number;
}

void Add(Alive what, int64_t number) {
  alive[static_cast<size_t>(what)] += number;
}

int64_t Counted(Count what, bool training) {
  return counts[training ? 1 : 0][static_cast<size_t>(what)];
}

int64_t AliveNow(Alive what) { return alive[static_cast<size_t>(what)]; }

void ResetCounts() {
  training_thread = std::this_thread::get_id();
  for (auto& of_thread : counts) {
    for (std::atomic<int64_t>& count : of_thread) count = 0;
  }
}

const char* NameOf(Count what) {
  return kCountNames[static_cast<size_t>(what)];
}

const char* NameOf(Alive what) {
  return kAliveNames[static_cast<size_t>(what)];
}

}  // namespace fake_device
