#include "src/hook/ledger_writer.h"

namespace smdebug::hook {
namespace {

// How often the ledger is rewritten at most.
constexpr std::chrono::seconds kLedgerInterval{1};

}  // namespace

run::Ledger LedgerWriter::Now() const {
  run::Ledger ledger;
  ledger.last_step = last_step_.load(std::memory_order_relaxed);
  tally_->FillIn(ledger);
  return ledger;
}

void LedgerWriter::Update() {
  const auto now = std::chrono::steady_clock::now();
  if (now - written_ < kLedgerInterval) return;
  written_ = now;
  try {
    folder_->WriteLedger(Now());
  } catch (...) {
    fail_open_->Keep("ledger");
  }
}

void LedgerWriter::Leave(std::optional<Ending> ending,
                         std::string_view reason) {
  try {
    if (ending) {
      folder_->Leave(Now(), *ending, reason);
    } else {
      folder_->Abandon(Now());
    }
  } catch (...) {
    fail_open_->Keep("close");
    if (ending) NoteFailure(*ending, reason);
  }
}

// The ledger may be written where the marker cannot.
void LedgerWriter::NoteFailure(Ending ending, std::string_view reason) {
  try {
    run::Ledger ledger = Now();
    ledger.closed = true;
    ledger.ending = EndingName(ending);
    ledger.reason = reason;
    folder_->WriteLedger(std::move(ledger));
  } catch (const std::exception&) {
    // It is counted and was logged; the ledger keeps what it had.
  }
}

}  // namespace smdebug::hook
