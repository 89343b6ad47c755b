#include <fcntl.h>
#include <poll.h>
#include <signal.h>
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

#include "src/actions/action_type.h"
#include "src/actions/firing_json.h"
#include "src/actions/words.h"
#include "src/base/child.h"
#include "src/base/clock.h"
#include "src/base/fd.h"
#include "src/base/process.h"
#include "src/base/text.h"

namespace smdebug::actions {
namespace {

using base::Fd;
using std::chrono::steady_clock;

constexpr std::string_view kExec = "exec";

[[noreturn]] void Fail(std::string_view what, int code) {
  throw ActionError(kExec, fmt::format("{}: {}", what,
                                       std::generic_category().message(code)));
}

pid_t Start(base::ChildProgram program) {
  try {
    return base::StartChild(std::move(program));
  } catch (const std::system_error& error) {
    throw ActionError(kExec, error.what());
  }
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
  for (std::string& text : base::OwnEnvironment()) {
    const bool is_replaced = std::ranges::any_of(own, [&](const auto& one) {
      return text.starts_with(one.substr(0, one.find('=') + 1));
    });
    if (!is_replaced) all.push_back(std::move(text));
  }
  std::ranges::move(own, std::back_inserter(all));
  return all;
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
bool Await(const base::Process& child, Output& output,
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

// Runs a command, without a shell, in a process group of its own. It gets
// SMDEBUG_RULE, SMDEBUG_STEP, SMDEBUG_RUN and SMDEBUG_MESSAGE, and the firing
// as JSON on standard input. One that ends with another code than 0, or not
// within `timeout`, has failed; then the group is killed.
class Exec final : public Action {
 public:
  Exec(std::vector<std::string> words, std::chrono::milliseconds timeout)
      : words_(std::move(words)), timeout_(timeout) {}

  std::string_view kind() const noexcept override { return kExec; }

  // Arguments may hold secrets.
  std::string target() const override { return words_[0]; }

  std::string Do(const Firing& firing) override {
    const Fd input = InputOf(ToJson(firing));
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) Fail("cannot make a pipe", errno);
    const Fd read_end(ends[0]);
    Fd write_end(ends[1]);
    fcntl(read_end.get(), F_SETFL, O_NONBLOCK);
    const pid_t pid = Start({.words = words_,
                             .environment = Environment(firing),
                             .input = input.get(),
                             .output = write_end.get(),
                             .error = write_end.get()});
    write_end.Close();
    Output output(read_end.get());
    bool has_ended = true;
    try {
      const auto id = base::FindProcess(pid);
      const auto child = id ? base::Process::Open(*id) : std::nullopt;
      has_ended =
          !child || Await(*child, output, base::DeadlineAfter(timeout_));
    } catch (const std::system_error& error) {
      kill(-pid, SIGKILL);
      base::Reap(pid);
      throw ActionError(kExec, error.what());
    }
    if (!has_ended) kill(-pid, SIGKILL);
    const auto status = base::Reap(pid);
    output.Take();
    if (!has_ended) {
      throw ActionError(
          kExec, fmt::format("killed after {} s{}",
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
    if (*status == 0) return "exit code 0";
    throw ActionError(
        kExec, fmt::format("{}{}{}", WIFSIGNALED(*status) ? "ended by " : "",
                           base::EndText(*status), Printed(output)));
  }

  const std::vector<std::string> words_;
  const std::chrono::milliseconds timeout_;
};

}  // namespace

ActionType ExecType() {
  return {
      .name = kExec,
      .forms = "exec:COMMAND",
      .target_keys = {"command", "endpoint"},
      .is_allowed =
          [](std::string_view target) {
            return SplitCommand(target).has_value();
          },
      .allowed = "a command with its quotes closed, or a JSON list of strings",
      .make = [](const ActionSpec& spec,
                 const ActionOptions& options) -> std::unique_ptr<Action> {
        std::vector<std::string> words = SplitCommand(spec.target).value();
        if (!base::IsProgram(words[0])) {
          throw ConfigError(fmt::format("action {}", kExec), words[0],
                            "a program on PATH, or the path of one");
        }
        return std::make_unique<Exec>(std::move(words), options.exec_timeout);
      }};
}

}  // namespace smdebug::actions
