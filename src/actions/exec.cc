#include "src/actions/exec.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "src/actions/firing_json.h"
#include "src/actions/process.h"
#include "src/actions/words.h"
#include "src/base/clock.h"
#include "src/base/text.h"

extern char** environ;

namespace smdebug::actions {
namespace {

using std::chrono::steady_clock;

class Fd {
 public:
  explicit Fd(int fd = -1) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&&) = delete;
  ~Fd() { Close(); }

  int get() const noexcept { return fd_; }
  void Close() {
    if (fd_ >= 0) close(std::exchange(fd_, -1));
  }

 private:
  int fd_;
};

[[noreturn]] void Fail(std::string_view what, int code) {
  throw ActionError("exec", fmt::format("{}: {}", what,
                                        std::generic_category().message(code)));
}

// A file in memory with this text, to be read from its beginning.
Fd InputOf(std::string_view text) {
  Fd file(memfd_create("smdebug-firing", MFD_CLOEXEC));
  if (file.get() < 0) Fail("cannot make its input", errno);
  while (!text.empty()) {
    const ssize_t written = write(file.get(), text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) Fail("cannot make its input", errno);
    text.remove_prefix(static_cast<size_t>(written));
  }
  lseek(file.get(), 0, SEEK_SET);
  return file;
}

// The environment of this process with some variables replaced.
std::vector<std::string> Environment(const Firing& firing) {
  std::vector<std::string> own = {
      "SMDEBUG_RULE=" + firing.rule,
      "SMDEBUG_STEP=" + (firing.step ? fmt::format("{}", *firing.step) : ""),
      "SMDEBUG_RUN=" + firing.run, "SMDEBUG_MESSAGE=" + firing.message};
  std::vector<std::string> all;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const bool is_replaced = std::ranges::any_of(own, [&](const auto& one) {
      return text.starts_with(one.substr(0, one.find('=') + 1));
    });
    if (!is_replaced) all.emplace_back(text);
  }
  std::ranges::move(own, std::back_inserter(all));
  return all;
}

std::vector<char*> Pointers(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

// Starts the command as the leader of a new group.
pid_t Spawn(std::vector<std::string> words, const Firing& firing, int input,
            int output) {
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_adddup2(&files, input, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&files, output, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&files, output, STDERR_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP |
                                            POSIX_SPAWN_SETSIGDEF |
                                            POSIX_SPAWN_SETSIGMASK);
  posix_spawnattr_setpgroup(&attributes, 0);
  sigset_t signals;
  sigemptyset(&signals);
  posix_spawnattr_setsigmask(&attributes, &signals);
  for (const int signal : {SIGPIPE, SIGCHLD, SIGINT, SIGTERM, SIGHUP}) {
    sigaddset(&signals, signal);
  }
  posix_spawnattr_setsigdefault(&attributes, &signals);

  std::vector<std::string> environment = Environment(firing);
  const std::vector<char*> argv = Pointers(words);
  const std::vector<char*> envp = Pointers(environment);
  pid_t pid = 0;
  const int code = posix_spawnp(&pid, argv[0], &files, &attributes, argv.data(),
                                envp.data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  if (code != 0) Fail(fmt::format("cannot start {}", words[0]), code);
  return pid;
}

// Keeps the end of what a command prints. One thread at a time.
class Output {
 public:
  explicit Output(int fd) : fd_(fd) {}

  int fd() const noexcept { return fd_; }

  // Takes what there is; false at the end.
  bool Take() {
    std::array<char, 4096> part;
    for (;;) {
      const ssize_t count = read(fd_, part.data(), part.size());
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) return errno == EAGAIN;
      if (count == 0) return false;
      text_.append(part.data(), static_cast<size_t>(count));
      constexpr size_t kMost = 1024;
      if (text_.size() > kMost) text_.erase(0, text_.size() - kMost);
    }
  }

  std::string_view text() const { return base::Trim(text_); }

 private:
  const int fd_;
  std::string text_;
};

// Waits until the child has ended, and takes what it prints meanwhile.
bool Await(const Process& child, Output& output,
           steady_clock::time_point deadline) {
  bool is_open = true;
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(
        deadline - steady_clock::now());
    std::array<pollfd, 2> events{
        pollfd{.fd = child.fd(), .events = POLLIN, .revents = 0},
        pollfd{
            .fd = is_open ? output.fd() : -1, .events = POLLIN, .revents = 0}};
    constexpr int64_t kLongest = 60'000;
    poll(events.data(), events.size(),
         static_cast<int>(std::clamp<int64_t>(left.count(), 0, kLongest)));
    if (is_open) is_open = output.Take();
    if (events[0].revents != 0) return true;
    if (steady_clock::now() >= deadline) return false;
  }
}

// Takes the child from the table of processes, and tells how it ended; nullopt
// if someone else in this process did so first.
std::optional<int> Reap(pid_t pid) {
  int status = 0;
  while (waitpid(pid, &status, 0) < 0) {
    if (errno != EINTR) return std::nullopt;
  }
  return status;
}

class Exec final : public Action {
 public:
  Exec(std::vector<std::string> words, std::chrono::milliseconds timeout)
      : words_(std::move(words)), timeout_(timeout) {}

  ActionKind kind() const noexcept override { return ActionKind::kExec; }

  // Arguments may hold secrets.
  std::string target() const override { return words_[0]; }

  std::string Do(const Firing& firing) override {
    const Fd input = InputOf(ToJson(firing));
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) Fail("cannot make a pipe", errno);
    const Fd read_end(ends[0]);
    Fd write_end(ends[1]);
    fcntl(read_end.get(), F_SETFL, O_NONBLOCK);
    const pid_t pid = Spawn(words_, firing, input.get(), write_end.get());
    write_end.Close();
    Output output(read_end.get());
    bool has_ended = true;
    try {
      const auto id = FindProcess(pid);
      const auto child = id ? Process::Open(*id) : std::nullopt;
      has_ended =
          !child || Await(*child, output, base::DeadlineAfter(timeout_));
    } catch (const std::system_error& error) {
      kill(-pid, SIGKILL);
      Reap(pid);
      throw ActionError("exec", error.what());
    }
    if (!has_ended) kill(-pid, SIGKILL);
    const auto status = Reap(pid);
    output.Take();
    if (!has_ended) {
      throw ActionError(
          "exec", fmt::format("killed after {} s{}",
                              std::chrono::duration<double>(timeout_).count(),
                              Printed(output)));
    }
    return Judge(status, output);
  }

 private:
  static std::string Printed(const Output& output) {
    return output.text().empty() ? "" : fmt::format(": {}", output.text());
  }

  static std::string Judge(std::optional<int> status, const Output& output) {
    if (!status) return "ended; its exit code is not known";
    if (WIFSIGNALED(*status)) {
      throw ActionError("exec",
                        fmt::format("ended by signal {}{}", WTERMSIG(*status),
                                    Printed(output)));
    }
    const int code = WEXITSTATUS(*status);
    if (code != 0) {
      throw ActionError("exec",
                        fmt::format("exit code {}{}", code, Printed(output)));
    }
    return "exit code 0";
  }

  const std::vector<std::string> words_;
  const std::chrono::milliseconds timeout_;
};

}  // namespace

std::unique_ptr<Action> MakeExec(const ActionSpec& spec,
                                 std::chrono::milliseconds timeout) {
  return std::make_unique<Exec>(SplitCommand(spec.target).value(), timeout);
}

}  // namespace smdebug::actions
