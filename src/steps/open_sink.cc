#include "src/steps/open_sink.h"

#include <utility>

#include "src/steps/file_sink.h"

namespace smdebug::steps {
namespace {

SinkMaker& MakerForTesting() {
  static SinkMaker maker;
  return maker;
}

}  // namespace

std::shared_ptr<StepSink> OpenSink(std::shared_ptr<Storage> storage,
                                   Durability durability) {
  const SinkMaker& maker = MakerForTesting();
  return maker ? maker(std::move(storage), durability)
               : MakeFileSink(std::move(storage), durability);
}

SinkMakerForTesting::SinkMakerForTesting(SinkMaker maker)
    : before_(std::exchange(MakerForTesting(), std::move(maker))) {}

SinkMakerForTesting::~SinkMakerForTesting() {
  MakerForTesting() = std::move(before_);
}

}  // namespace smdebug::steps
