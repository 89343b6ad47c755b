#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "smdebug/run.h"

namespace smdebug::run {

// What one worker did to a run: `ledger/<worker>.json`, rewritten as the run
// goes on.
struct Ledger {
  std::string worker = {};
  int64_t num_workers = 1;
  std::string run = {};  // Identifies the run; empty in older ones.
  std::string job = {};  // As the user or a launcher names it.
  std::string host = {};
  std::string machine = {};  // base::MachineId()
  int64_t pid = 0;
  uint64_t start = 0;  // base::ProcessStart(pid); 0 in older ones.
  double started = 0;  // Seconds since the epoch.
  double updated = 0;
  bool closed = false;
  std::string ending = {};  // How, if it has closed: see EndingName().
  std::string reason = {};  // Why, where there is more to say.

  // Where its files are on the way to, for the worker has come a second time:
  // "previous/<n>/". Else empty.
  std::string moving = {};

  int64_t last_step = -1;  // Begun, saved or not.
  HookStats stats = {};

  // The first message of each kind of trouble, by kind ("write", "dtype", ...).
  std::map<std::string, std::string, std::less<>> messages = {};

  friend bool operator==(const Ledger&, const Ledger&) = default;
};

std::string ToJson(const Ledger& ledger);

// Throws FormatError, naming `file`. Missing keys keep their defaults.
Ledger ParseLedger(std::string_view json, std::string_view file);

}  // namespace smdebug::run
