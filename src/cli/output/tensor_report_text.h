#pragma once

#include <cstdint>
#include <string>

#include "src/cli/output/terminal.h"
#include "src/query/tensor_report.h"

namespace smdebug::cli {

struct ReportOptions {
  int64_t values = 100;  // At most that many, about.
  bool ascii = false;
};

// For people: the facts, a histogram, the values.
std::string ReportText(const query::TensorReport& report,
                       const ReportOptions& options, const Terminal& terminal);

}  // namespace smdebug::cli
