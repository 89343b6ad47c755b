#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <string>
#include <string_view>

#include "src/cli/output/terminal.h"

namespace smdebug::cli {

// Tells how far a long piece of work is, on one line of a terminal that is
// drawn again at most ten times a second and removed at the end. Nothing is
// written anywhere else than to a terminal.
//
// Borrows `err`. One thread at a time.
class Progress {
 public:
  enum class Unit { kBytes, kSteps };
  using Clock = std::function<double()>;  // Seconds.

  Progress(std::ostream& err, const Terminal& terminal, Unit unit,
           uint64_t total, Clock clock = SteadySeconds);
  ~Progress();

  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void Add(uint64_t amount);

 private:
  static double SteadySeconds();
  void Draw(double now);

  std::ostream& err_;
  const Terminal terminal_;
  const Unit unit_;
  const uint64_t total_;
  const Clock clock_;
  const double start_;
  double next_;  // When it may be drawn again.
  uint64_t done_ = 0;
  bool drawn_ = false;
};

// "[#####.....]  50%  1.0 GiB of 2.0 GiB  512.0 MiB/s  2 s left", in at most
// `width` columns.
std::string ProgressLine(Progress::Unit unit, uint64_t done, uint64_t total,
                         double seconds, size_t width);

}  // namespace smdebug::cli
