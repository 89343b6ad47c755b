#pragma once

#include <memory>

#include "smdebug/storage.h"
#include "src/steps/step_sink.h"

namespace smdebug::steps {

// Two files for each step: records go to the event file as they come. Seal()
// makes the event file visible first and the index second, so that an index
// always finds its records, and reports before it returns.
std::shared_ptr<StepSink> MakeFileSink(std::shared_ptr<Storage> storage,
                                       Durability durability);

}  // namespace smdebug::steps
