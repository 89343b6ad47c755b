#pragma once

#include "src/run/keys.h"
#include "src/run/survey.h"

namespace smdebug::index {
using run::CollectionsFileKey;
using run::DecodeWorker;
using run::EncodeWorker;
using run::EventFileKey;
using run::HoldsRun;
using run::IndexFileKey;
using run::IsValidWorkerName;
using run::kClaimKey;
using run::kEndMarkerKey;
using run::kPreviousPrefix;
using run::LedgerKey;
using run::ParseStepFileKey;
using run::ParseWorkerFileKey;
using run::StepFile;
using run::TensorboardFileKey;
}  // namespace smdebug::index
