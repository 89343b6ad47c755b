#include "src/cli/output/json_output.h"

#include <ostream>

namespace smdebug::cli {

void PrintJson(std::ostream& out, const Json& json) {
  out << json.dump(2, ' ', false, Json::error_handler_t::replace) << '\n';
}

void PrintJsonLine(std::ostream& out, const Json& json) {
  out << json.dump(-1, ' ', false, Json::error_handler_t::replace) << '\n';
}

Json WithRun(const std::string& run, const Json& json) {
  Json with_run = {{"run", run}};
  with_run.update(json);
  return with_run;
}

}  // namespace smdebug::cli
