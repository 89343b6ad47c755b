#include "src/run/doorkeeper.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <climits>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "src/base/blocked_signals.h"
#include "src/base/fork.h"
#include "src/base/host.h"
#include "src/base/log.h"
#include "src/run/keys.h"

namespace smdebug::run {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

// How long a writer is waited for whose steps the reader may know of, and any
// other.
constexpr milliseconds kForOwn{60'000};
constexpr milliseconds kForOthers{2'000};

// How often one who waits is asked whether to go on.
constexpr milliseconds kAskEvery{100};

// Readers that wait while another is answered.
constexpr int kBacklog = 64;

std::atomic<uint64_t> news{0};
std::atomic<uint64_t> generation{0};  // base::ForkGeneration() of the hook.

std::thread StartWithoutSignals(std::function<void()> body) {
  const base::BlockedSignals blocked;
  try {
    return std::thread(std::move(body));
  } catch (const std::system_error&) {
    return {};  // Without it readers come as early as they come.
  }
}

// A call to one writer; not valid if nobody is there.
struct Call {
  base::Fd line;
  milliseconds patience{0};
};

Call Ring(const std::string& name) {
  auto line = Connect(name);
  if (!line) return {};
  // One that is stopped answers nobody.
  const auto status = base::FindProcessStatus(line->pid);
  if (!status || status->state == 'T') return {};
  const bool is_own = line->pid == getpid() || line->pid == getppid();
  return {.line = std::move(line->fd),
          .patience = is_own ? kForOwn : kForOthers};
}

// Whether the writer has hung up in time.
bool AwaitAnswer(const Call& call, Clock::time_point start,
                 const std::function<void()>& while_waiting) {
  while (true) {
    if (while_waiting) while_waiting();
    const auto left =
        std::chrono::ceil<milliseconds>(call.patience - (Clock::now() - start));
    if (left.count() <= 0) return false;
    pollfd line = {.fd = call.line.get(), .events = POLLIN, .revents = 0};
    const auto most = static_cast<int>(std::min(left, kAskEvery).count());
    if (poll(&line, 1, most) > 0) return true;
  }
}

// Where nobody can come to, the doorkeeper sits all the same.
base::Fd DoorOf(const Presence& presence) {
  base::Fd door = presence.Share();
  if (door.valid()) return door;
  door = base::Fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const sockaddr any = {.sa_family = AF_UNIX, .sa_data = {}};
  // The system gives it a name that nobody else knows.
  if (bind(door.get(), &any, sizeof(any.sa_family)) != 0) return {};
  return door;
}

void Try(const std::function<void()>& duty) {
  try {
    duty();
  } catch (const std::exception&) {
    // The reader comes as early as it comes; the next try may do better.
  }
}

}  // namespace

Doorkeeper::Doorkeeper(const Presence& presence, Duties duties)
    : door_(DoorOf(presence)), duties_(std::move(duties)) {
  if (!door_.valid() || listen(door_.get(), kBacklog) != 0) return;
  thread_ = StartWithoutSignals([this] { Run(); });
}

Doorkeeper::~Doorkeeper() {
  if (!thread_.joinable()) return;
  shutdown(door_.get(), SHUT_RDWR);  // Wakes the thread.
  thread_.join();
}

void Doorkeeper::Run() {
  Clock::time_point beat = Clock::now() + duties_.show_life_every;
  while (AwaitCaller(beat)) {
    if (Clock::now() >= beat) {
      Try(duties_.show_life);
      beat = Clock::now() + duties_.show_life_every;
      continue;
    }
    const base::Fd caller(accept4(door_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (caller.valid()) {
      Try(duties_.publish);
    } else if (errno != EINTR && errno != ECONNABORTED) {
      break;
    }
  }
  shutdown(door_.get(), SHUT_RDWR);  // Nobody is to wait for an answer.
}

bool Doorkeeper::AwaitCaller(Clock::time_point until) const {
  pollfd door = {.fd = door_.get(), .events = POLLIN, .revents = 0};
  const auto left = std::chrono::ceil<milliseconds>(until - Clock::now());
  const auto most = std::clamp<int64_t>(left.count(), 0, INT_MAX);
  const int ready = poll(&door, 1, static_cast<int>(most));
  if (ready < 0) return errno == EINTR;
  return (door.revents & (POLLHUP | POLLERR | POLLNVAL)) == 0;
}

void AwaitWriters(const Storage& storage, std::string_view run,
                  const std::function<void()>& while_waiting) {
  if (run.empty()) return;
  std::vector<Call> calls;
  for (const FileInfo& file : storage.List(kLedgerPrefix)) {
    const auto worker = ParseWorkerFileKey(file.key);
    if (!worker) continue;
    Call call = Ring(PresenceName(storage, run, *worker));
    if (call.line.valid()) calls.push_back(std::move(call));
  }
  const Clock::time_point start = Clock::now();
  for (const Call& call : calls) {
    if (AwaitAnswer(call, start, while_waiting)) continue;
    if (call.patience < kForOwn) continue;
    base::LogWarning(
        "{}: steps that have ended were not written within {} seconds; what is "
        "read now may lack them",
        storage.root(), kForOwn.count() / 1000);
  }
}

void NoteNews() noexcept {
  generation.store(base::ForkGeneration(), std::memory_order_relaxed);
  news.fetch_add(1, std::memory_order_release);
}

uint64_t NewsHere() noexcept {
  const uint64_t number = news.load(std::memory_order_acquire);
  if (number == 0) return 0;
  // What a parent has been given since is not known here.
  const bool is_child =
      generation.load(std::memory_order_relaxed) != base::ForkGeneration();
  return is_child ? news.fetch_add(1, std::memory_order_relaxed) + 1 : number;
}

}  // namespace smdebug::run
