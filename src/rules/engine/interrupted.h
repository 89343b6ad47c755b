#pragma once

namespace smdebug::rules {

// A rule throws it out of Check() when whoever runs it has called the work off
// while the rule still waits for its verdict: the step counts as not judged. It
// is no std::exception, so that nobody takes it for a failure of the rule.
struct Interrupted {};

}  // namespace smdebug::rules
