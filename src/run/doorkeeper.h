#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string_view>
#include <thread>

#include "smdebug/storage.h"
#include "src/base/fd.h"
#include "src/run/presence.h"

namespace smdebug::run {

// A writer works behind the training, so a reader beside it may come too early
// for a step that has ended. On one machine it can ask: it connects to the
// writer's presence, and the writer's doorkeeper hangs up when everything that
// had ended then can be read.

// Answers readers, on a thread of its own, for as long as it lives, and shows
// from time to time that the process is alive, before anything is written.
// Without a presence nobody comes.
//
// To be destroyed by the process that made it, after its writer is done.
class Doorkeeper {
 public:
  // What they throw is of no consequence.
  struct Duties {
    // Returns when everything that has ended can be read, or never will.
    std::function<void()> publish;
    std::function<void()> show_life;
    std::chrono::milliseconds show_life_every;
  };

  Doorkeeper(const Presence& presence, Duties duties);
  ~Doorkeeper();
  Doorkeeper(const Doorkeeper&) = delete;
  Doorkeeper& operator=(const Doorkeeper&) = delete;

 private:
  void Run();
  // False if nobody can come any more.
  bool AwaitCaller(std::chrono::steady_clock::time_point until) const;

  const base::Fd door_;
  const Duties duties_;
  std::thread thread_;
};

// Lets the workers that write `run` in `storage` on this machine publish what
// has ended, and waits for it: long for a writer in this process or its parent,
// whose steps this one may know of, and shortly for any other. Calls
// `while_waiting`, which may be empty, from time to time. Throws IoError.
void AwaitWriters(const Storage& storage, std::string_view run,
                  const std::function<void()>& while_waiting);

// For a hook that has something to be published: readers of this process should
// ask for it.
void NoteNews() noexcept;

// A number that is another one if a hook of this process, or of one that it was
// forked from, may have something new to publish; 0 as long as there was no
// such hook.
uint64_t NewsHere() noexcept;

}  // namespace smdebug::run
