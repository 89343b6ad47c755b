#include "src/hook/tally.h"

#include <exception>
#include <string>

#include <fmt/format.h>

#include "src/base/log.h"

namespace smdebug::hook {
namespace {

// Kinds of trouble may be named by what others hand over, such as tensors.
constexpr size_t kMostKinds = 1000;

// Reasons may hold the value that was refused.
constexpr size_t kMostReasons = 8;

// What follows is for those who mend it, such as a traceback.
std::string_view FirstLineOf(std::string_view message) {
  return message.substr(0, message.find('\n'));
}

}  // namespace

void Tally::AddStep(int64_t values, uint64_t bytes, int64_t scalars) {
  const base::MutexLock lock(mu_);
  ++stats_.steps_saved;
  stats_.values_saved += values;
  stats_.bytes_saved += bytes;
  stats_.scalars_saved += scalars;
}

void Tally::AddStall(std::chrono::nanoseconds waited) {
  const base::MutexLock lock(mu_);
  ++stats_.stalls;
  stats_.stalled_seconds += std::chrono::duration<double>(waited).count();
}

void Tally::AddDropped(int64_t count, std::string_view kind,
                       std::string_view message) {
  {
    const base::MutexLock lock(mu_);
    stats_.dropped += count;
  }
  Note(kind, message);
}

void Tally::AddSkipped(std::string_view kind, std::string_view message) {
  {
    const base::MutexLock lock(mu_);
    ++stats_.skipped;
  }
  Note(kind, message);
}

void Tally::AddLeftOut(std::string_view name, std::string_view reason) {
  const std::string message = fmt::format("'{}' is left out: {}", name, reason);
  std::string kind = fmt::format("'{}'", name);
  {
    const base::MutexLock lock(mu_);
    ++stats_.skipped;
    for (size_t reasons = 1;; ++reasons) {
      const auto known = messages_.find(kind);
      if (known == messages_.end()) break;
      if (known->second == FirstLineOf(message) || reasons == kMostReasons) {
        return;
      }
      kind = fmt::format("'{}' {}", name, reasons + 1);
    }
  }
  Note(kind, message);
}

void Tally::AddError(std::string_view kind, std::string_view message) {
  {
    const base::MutexLock lock(mu_);
    ++stats_.errors;
  }
  Note(kind, message);
}

void Tally::AddLost(int64_t count) {
  const base::MutexLock lock(mu_);
  stats_.lost += count;
}

HookStats Tally::stats() const {
  const base::MutexLock lock(mu_);
  return stats_;
}

void Tally::FillIn(run::Ledger& ledger) const {
  const base::MutexLock lock(mu_);
  ledger.stats = stats_;
  ledger.messages = messages_;
}

void Tally::Note(std::string_view kind, std::string_view message) noexcept {
  const std::string_view line = FirstLineOf(message);
  try {
    {
      const base::MutexLock lock(mu_);
      if (messages_.size() >= kMostKinds) return;
      if (!messages_.try_emplace(std::string(kind), line).second) return;
    }
    base::LogWarning("{} (counted; said once)", line);
    if (line.size() < message.size()) base::Log(LogLevel::kDebug, message);
  } catch (const std::exception&) {
    // Out of memory: the count stands, the text is lost.
  }
}

}  // namespace smdebug::hook
