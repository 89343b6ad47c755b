#pragma once

#include <string>
#include <utility>
#include <vector>

#include "src/query/run_summary.h"

namespace smdebug::query {

inline constexpr double kNow = 1'700'000'000;

// A worker whose ledger was written `age` seconds before kNow.
inline WorkerSummary MakeWorker(const std::string& name, bool closed,
                                double age) {
  WorkerSummary worker;
  worker.worker = name;
  worker.steps = 3;
  worker.values = 60;
  worker.bytes = 1536;
  worker.first_step = 0;
  worker.last_step = 20;
  worker.ledger = run::Ledger{};
  worker.ledger->worker = name;
  worker.ledger->closed = closed;
  worker.ledger->updated = kNow - age;
  return worker;
}

inline RunSummary MakeRun(std::vector<WorkerSummary> workers) {
  RunSummary run;
  run.steps = 3;
  run.tensors = 20;
  run.num_workers = static_cast<int64_t>(workers.size());
  for (WorkerSummary& worker : workers) {
    worker.ledger->num_workers = run.num_workers;
  }
  run.workers = std::move(workers);
  return run;
}

}  // namespace smdebug::query
