#include "src/run/doorkeeper.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "src/base/abstract_address.h"
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
  // Signals are for the program's own threads.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread thread;
  try {
    thread = std::thread(std::move(body));
  } catch (const std::system_error&) {
    // Without it readers come as early as they come.
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return thread;
}

// A call to one writer; not valid if nobody is there.
struct Call {
  base::Fd line;
  milliseconds patience{0};
};

Call Ring(const std::string& name) {
  Call call = {.line = base::Fd(socket(
                   AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0))};
  const base::AbstractAddress address(name);
  if (!call.line.valid() ||
      connect(call.line.get(), address.get(), address.length()) != 0) {
    return {};
  }
  ucred owner{};
  socklen_t size = sizeof(owner);
  if (getsockopt(call.line.get(), SOL_SOCKET, SO_PEERCRED, &owner, &size) !=
      0) {
    return {};
  }
  // A process that it has forked may hold its socket when it is gone, and one
  // that is stopped answers nobody.
  const auto status = base::FindProcessStatus(owner.pid);
  if (!status || status->HasEnded() || status->state == 'T') return {};
  const bool is_own = owner.pid == getpid() || owner.pid == getppid();
  call.patience = is_own ? kForOwn : kForOthers;
  return call;
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

}  // namespace

Doorkeeper::Doorkeeper(const Presence& presence, std::function<void()> publish)
    : door_(presence.Share()), publish_(std::move(publish)) {
  if (!door_.valid() || listen(door_.get(), kBacklog) != 0) return;
  thread_ = StartWithoutSignals([this] { Run(); });
}

Doorkeeper::~Doorkeeper() {
  if (!thread_.joinable()) return;
  shutdown(door_.get(), SHUT_RDWR);  // Wakes the thread.
  thread_.join();
}

void Doorkeeper::Run() {
  while (true) {
    const base::Fd caller(accept4(door_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (caller.valid()) {
      publish_();
    } else if (errno != EINTR && errno != ECONNABORTED) {
      break;
    }
  }
  shutdown(door_.get(), SHUT_RDWR);  // Nobody is to wait for an answer.
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
