#pragma once

#include <string>

#include "src/rules/reports/xgboost_report_data.h"

namespace smdebug::rules {

// The report as one page of HTML that needs nothing else: charts are SVG within
// it, each with its numbers in a table.
std::string XgboostReportPage(const XgboostReportData& data);

// The same numbers as one JSON object. What does not exist is left out; NaN and
// infinities are texts.
std::string XgboostReportJson(const XgboostReportData& data);

}  // namespace smdebug::rules
