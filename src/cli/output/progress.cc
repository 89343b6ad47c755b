#include "src/cli/output/progress.h"

#include <algorithm>
#include <chrono>
#include <ostream>

#include <fmt/format.h>

#include "src/cli/output/text.h"

namespace smdebug::cli {
namespace {

constexpr double kInterval = 0.1;
constexpr std::string_view kClearLine = "\r\x1B[K";

}  // namespace

std::string ProgressLine(Progress::Unit unit, uint64_t done, uint64_t total,
                         double seconds, size_t width) {
  const double fraction = total == 0
                              ? 1
                              : std::min(1.0, static_cast<double>(done) /
                                                  static_cast<double>(total));
  const double rate = seconds > 0 ? static_cast<double>(done) / seconds : 0;
  std::string text = fmt::format("{:3.0f}%  ", 100 * fraction);
  if (unit == Progress::Unit::kBytes) {
    text += fmt::format("{} of {}  {}/s", HumanBytes(done), HumanBytes(total),
                        HumanBytes(static_cast<uint64_t>(rate)));
  } else {
    text += fmt::format("{} of {} steps  {:.0f}/s", done, total, rate);
  }
  if (rate > 0 && done < total) {
    text += fmt::format("  {} left",
                        HumanAge(static_cast<double>(total - done) / rate));
  }
  constexpr size_t kMostBar = 30;
  constexpr size_t kLeastBar = 5;
  if (width >= text.size() + kLeastBar + 4) {
    const size_t bar = std::min(kMostBar, width - text.size() - 4);
    const auto full = static_cast<size_t>(fraction * static_cast<double>(bar));
    text = fmt::format("[{}{}] ", std::string(full, '#'),
                       std::string(bar - full, '.')) +
           text;
  }
  return text.substr(0, width);
}

Progress::Progress(std::ostream& err, const Terminal& terminal, Unit unit,
                   uint64_t total, Clock clock)
    : err_(err),
      terminal_(terminal),
      unit_(unit),
      total_(total),
      clock_(std::move(clock)),
      start_(clock_()),
      next_(start_ + kInterval) {}

Progress::~Progress() {
  if (drawn_) err_ << kClearLine << std::flush;
}

void Progress::Add(uint64_t amount) {
  done_ += amount;
  if (!terminal_.is_terminal) return;
  const double now = clock_();
  if (now >= next_) Draw(now);
}

double Progress::SteadySeconds() {
  return std::chrono::duration<double>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

void Progress::Draw(double now) {
  // One column less: a full last column would wrap on some terminals.
  const size_t width = terminal_.width > 1 ? terminal_.width - 1 : 1;
  err_ << kClearLine << ProgressLine(unit_, done_, total_, now - start_, width)
       << std::flush;
  next_ = now + kInterval;
  drawn_ = true;
}

}  // namespace smdebug::cli
