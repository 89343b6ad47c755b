#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include "smdebug/storage.h"
#include "src/base/fd.h"

namespace smdebug::run {

// A worker's part in a run, as a process can show it: a socket whose name
// nobody can take twice, and whose owner the kernel tells. What a file claims
// is no proof of who writes a run; this is.
//
// One thread at a time.
class Presence {
 public:
  Presence() = default;
  // Takes the name, if it can be had.
  explicit Presence(const std::string& name);

  // Another descriptor of the socket; not valid if the name was not to be had.
  base::Fd Share() const;

 private:
  base::Fd socket_;
};

// A connection to a process, by a name that it has.
struct Line {
  base::Fd fd;
  int64_t pid = 0;
};

// To the living process that listens to `name`; nullopt if there is none.
std::optional<Line> Connect(const std::string& name);

// The name that stands for `words`.
std::string NameFor(std::initializer_list<std::string_view> words);

// The name of `worker` of run `run` in `storage`.
std::string PresenceName(const Storage& storage, std::string_view run,
                         std::string_view worker);

// Whether process `pid` of this machine holds `name`. False as well if this
// process may not look, as at processes of other users.
bool IsPresent(int64_t pid, const std::string& name);

// Whether process `pid` of this machine is seen to be a worker of some folder,
// and not the one of `name`. False if this process may not look.
bool IsPresentElsewhere(int64_t pid, const std::string& name);

}  // namespace smdebug::run
