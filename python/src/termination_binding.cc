#include <chrono>

#include "python/src/bindings.h"
#include "smdebug/internal/termination.h"

namespace nb = nanobind;
using namespace nb::literals;  // NOLINT(google-build-using-namespace)

namespace smdebug::python {

void InitTermination(nb::module_& m) {
  m.def(
      "guard_termination",
      [](double grace) {
        base::GuardTermination(std::chrono::ceil<std::chrono::milliseconds>(
            std::chrono::duration<double>(grace)));
      },
      "grace"_a,
      "Ends the process by SIGTERM if its handler is not run within so many "
      "seconds.");
  m.def("heed_termination", &base::HeedTermination,
        "The handler of SIGTERM has its turn.");
}

}  // namespace smdebug::python
