#pragma once

#include <cstdint>
#include <exception>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "smdebug/storage.h"

namespace smdebug::steps {

// One step of one worker.
struct StepKey {
  std::string worker;
  int64_t step = 0;

  friend bool operator==(const StepKey&, const StepKey&) = default;
};

// What became of a sealed step.
struct StepReport {
  StepKey key;
  std::exception_ptr error;  // Why it is lost; null if readers can see it.
};

// Keeps bytes alive.
using Owner = std::shared_ptr<const void>;

// Hears what becomes of the steps of one worker. The sink may call it from any
// thread, also while a call to the sink is under way, but not from two at once.
class SinkListener {
 public:
  virtual ~SinkListener() = default;

  // Something was stored: the sink is slow perhaps, but not stuck.
  virtual void OnProgress() noexcept = 0;

  // Steps in the order in which they were sealed, each of them once.
  virtual void OnReports(std::span<const StepReport> reports) noexcept = 0;
};

// A step on its way into a sink. Destroyed before Seal() it leaves nothing
// behind. One thread at a time.
class OpenStep {
 public:
  virtual ~OpenStep() = default;

  // Adds `parts`, in this order, to the records of the step. They are valid
  // during the call, and as long as a copy of `owners` is kept. Throws IoError;
  // the step is then beyond use.
  virtual void Append(std::span<const Bytes> parts,
                      std::span<const Owner> owners) = 0;

  // The step is whole: `index` is the text that says where its records lie,
  // counted from the first of them, and is valid during the call. What becomes
  // of the step is not thrown but reported, now or later. Call once.
  virtual void Seal(std::string_view index) = 0;
};

// Where the steps of a run go, and how they lie there.
//
// A step is kept whole or not at all. It can be seen by readers before it is
// reported so, and those of a worker can be seen in the order in which they
// were sealed. Thread-safe.
class StepSink {
 public:
  virtual ~StepSink() = default;

  // Begins a step; a worker has one open at a time, and their numbers rise.
  // `listener` outlives the report of the step. Throws IoError.
  virtual std::unique_ptr<OpenStep> Open(const StepKey& key,
                                         SinkListener* listener) = 0;

  // Somebody waits for the steps that were sealed, or for the memory that they
  // take: the sink stores them without waiting for others to come.
  virtual void Hurry() = 0;
};

}  // namespace smdebug::steps
