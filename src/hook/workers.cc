#include "src/hook/workers.h"

#include <set>
#include <string>

#include <fmt/format.h>

#include "smdebug/error.h"
#include "src/run/keys.h"

namespace smdebug {

Worker Worker::OfRank(int64_t rank, int64_t count) {
  if (rank < 0 || rank >= count) {
    throw ConfigError("rank", std::to_string(rank),
                      fmt::format("0 to {}", count - 1));
  }
  return {.name = fmt::format("worker_{}", rank),
          .count = count,
          .is_chief = rank == 0};
}

std::vector<Worker> Worker::OfDevices(std::span<const std::string> devices) {
  std::vector<Worker> workers;
  for (const std::string& device : devices) {
    workers.push_back({.name = device,
                       .count = std::ssize(devices),
                       .is_chief = workers.empty()});
  }
  return workers;
}

namespace hook {

void Check(const Worker& worker) {
  if (!run::IsValidWorkerName(run::EncodeWorker(worker.name))) {
    throw ConfigError("worker name", worker.name,
                      "1 to 200 bytes without control characters, and without "
                      "'/' unless it is a device's name, which starts with it");
  }
  if (worker.count < 1) {
    throw ConfigError("number of workers", std::to_string(worker.count),
                      "a whole number of at least 1");
  }
}

void Check(std::span<const Worker> workers) {
  if (workers.empty()) {
    throw ConfigError("workers", "", "at least one worker");
  }
  std::set<std::string> names;
  for (const Worker& worker : workers) {
    Check(worker);
    if (!names.insert(run::EncodeWorker(worker.name)).second) {
      throw ConfigError("worker name", worker.name,
                        "a name that no other worker has in file names");
    }
    const int64_t count = workers.front().count;
    if (worker.count != count || count < std::ssize(workers)) {
      throw ConfigError(
          "number of workers", std::to_string(worker.count),
          fmt::format("the same for all workers, and at least the {} of this "
                      "process",
                      workers.size()));
    }
    if (worker.is_chief && &worker != &workers.front()) {
      throw ConfigError("chief", worker.name, "the first of the workers");
    }
  }
}

}  // namespace hook
}  // namespace smdebug
