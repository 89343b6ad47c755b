#pragma once

#include <chrono>
#include <iosfwd>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "smdebug/action.h"
#include "smdebug/invoker.h"
#include "src/cli/output/terminal.h"

namespace smdebug::cli {

// What `watch` shows while it judges: on a terminal a few lines that are drawn
// again in place, at most ten times a second; elsewhere a line for each fire.
//
// Borrows `out`. One thread at a time.
class WatchView {
 public:
  WatchView(std::ostream& out, const Terminal& terminal, bool json)
      : out_(out), terminal_(terminal), json_(json) {}
  // Shows what rules have printed since it was last drawn.
  ~WatchView();
  WatchView(const WatchView&) = delete;
  WatchView& operator=(const WatchView&) = delete;

  // A rule has fired.
  void Tell(const RuleFire& fire);

  // Something was done about it.
  void Tell(const std::string& rule, const ActionOutcome& outcome);

  // A rule has printed this. On a terminal it appears above the view; it may
  // only be called where is_live().
  void TellPrinted(std::string_view line);

  // Whether lines are drawn again in place.
  bool is_live() const { return terminal_.is_terminal && !json_; }

  // Draws again, if it is time to and there is a terminal.
  void Update(const Invoker& invoker);

  // The last word on every rule.
  void End(const LiveVerdict& verdict);

 private:
  using Clock = std::chrono::steady_clock;
  void Draw(std::span<const RuleReport> reports, int64_t steps,
            int64_t last_step);

  std::ostream& out_;
  const Terminal terminal_;
  const bool json_;
  std::map<std::string, std::string, std::less<>> evidence_;  // By rule.
  std::string notes_;  // To be shown above the view.
  size_t lines_ = 0;   // Drawn last.
  Clock::time_point next_ = {};
};

// The lines of the view, none longer than the terminal is wide, and fewer than
// it is high: sentences are wrapped, and left out where there is no room.
std::string WatchText(
    std::span<const RuleReport> reports, int64_t steps, int64_t last_step,
    const std::map<std::string, std::string, std::less<>>& evidence,
    const Terminal& terminal);

}  // namespace smdebug::cli
