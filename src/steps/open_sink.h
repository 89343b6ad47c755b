#pragma once

#include <functional>
#include <memory>

#include "smdebug/storage.h"
#include "src/steps/step_sink.h"

namespace smdebug::steps {

// The sink of a run that is written to `storage`.
std::shared_ptr<StepSink> OpenSink(std::shared_ptr<Storage> storage,
                                   Durability durability);

using SinkMaker = std::function<decltype(OpenSink)>;

// As long as it lives, OpenSink() gives what `maker` makes: runs laid out in
// another way, for tests of everything above. To be made and destroyed by one
// thread, while no other opens a sink.
class SinkMakerForTesting {
 public:
  explicit SinkMakerForTesting(SinkMaker maker);
  ~SinkMakerForTesting();
  SinkMakerForTesting(const SinkMakerForTesting&) = delete;
  SinkMakerForTesting& operator=(const SinkMakerForTesting&) = delete;

 private:
  SinkMaker before_;
};

}  // namespace smdebug::steps
