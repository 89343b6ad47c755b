#include "src/rules/engine/python_child.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "smdebug/error.h"
#include "src/base/clock.h"
#include "src/base/environment.h"
#include "src/base/process.h"

namespace smdebug::rules {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ChildClock = std::chrono::steady_clock;

constexpr milliseconds kAnswerPiece{100};

// For a rule's own last words, and from SIGTERM to SIGKILL.
constexpr seconds kChildGrace{2};

constexpr std::string_view kAdvice =
    "set SMDEBUG_PYTHON to a Python that has smdebug 2 installed";

}  // namespace

std::string ChosenPython(const std::string& fallback) {
  if (auto chosen = base::GetEnv("SMDEBUG_PYTHON")) return *chosen;
  if (!fallback.empty()) return fallback;
  std::error_code ignored;
  return DefaultPython(
      std::filesystem::read_symlink("/proc/self/exe", ignored));
}

std::string DefaultPython(const std::filesystem::path& program) {
  // <prefix>/lib/pythonX.Y/site-packages/smdebug/bin/smdebug
  const auto library =
      program.parent_path().parent_path().parent_path().parent_path();
  const std::string name = library.filename();
  if (!name.starts_with("python3.")) return "python3";
  const auto beside = library.parent_path().parent_path() / "bin" / name;
  return access(beside.c_str(), X_OK) == 0 ? beside.string() : name;
}

PythonChild::PythonChild(std::function<void(std::string_view line)> on_print,
                         const std::string& fallback)
    : python_(ChosenPython(fallback)), on_print_(std::move(on_print)) {
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    throw std::system_error(errno, std::generic_category(),
                            "cannot make a socket");
  }
  socket_ = base::Fd(ends[0]);
  const base::Fd theirs(ends[1]);
  base::Fd prints;
  if (on_print_) {
    if (pipe2(ends.data(), O_CLOEXEC) != 0) {
      throw std::system_error(errno, std::generic_category(),
                              "cannot make a pipe");
    }
    printed_ = base::Fd(ends[0]);
    prints = base::Fd(ends[1]);
    fcntl(printed_.get(), F_SETFL, O_NONBLOCK);
  }
  try {
    pid_ = base::StartChild(
        {.words = {python_, "-m", "smdebug.rules.rule_invoker", "--serve"},
         .environment = base::OwnEnvironment(),
         .input = theirs.get(),
         .output = theirs.get(),
         .error = on_print_ ? prints.get() : STDERR_FILENO});
  } catch (const std::system_error& error) {
    throw Error(fmt::format("{}; {}", error.what(), kAdvice));
  }
}

PythonChild::~PythonChild() { End(/*at_once=*/is_asked_); }

void PythonChild::Ask(const Message& question) {
  is_asked_ = true;
  asked_at_ = ChildClock::now();
  const std::string line =
      question.dump(-1, ' ', true, Message::error_handler_t::replace) + "\n";
  std::string_view left = line;
  while (!left.empty()) {
    const ssize_t sent =
        send(socket_.get(), left.data(), left.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    // Whoever waits for the answer hears of it.
    if (sent < 0) return;
    left.remove_prefix(static_cast<size_t>(sent));
  }
}

bool PythonChild::HasAnswer(milliseconds wait) {
  const auto until = ChildClock::now() + wait;
  for (;;) {
    if (is_lost_ || text_.find('\n') != std::string::npos) return true;
    const auto left =
        std::max(milliseconds(0),
                 std::chrono::ceil<milliseconds>(until - ChildClock::now()));
    // poll() passes over an end that is closed, -1.
    std::array<pollfd, 2> ready{
        pollfd{.fd = socket_.get(), .events = POLLIN, .revents = 0},
        pollfd{.fd = printed_.get(), .events = POLLIN, .revents = 0}};
    if (poll(ready.data(), ready.size(),
             static_cast<int>(std::min(left, kAnswerPiece).count())) <= 0) {
      // A process that it left behind may hold the other end.
      is_lost_ = HasEnded();
    }
    if (ready[1].revents != 0) TakePrinted();
    if (ready[0].revents != 0) TakeAnswer();
    if (left == milliseconds(0)) {
      return is_lost_ || text_.find('\n') != std::string::npos;
    }
  }
}

double PythonChild::SecondsSinceAsked() const {
  return std::chrono::duration<double>(ChildClock::now() - asked_at_).count();
}

PythonChild::Message PythonChild::Answer() {
  while (!HasAnswer(kAnswerPiece)) {
  }
  const size_t end = text_.find('\n');
  if (end == std::string::npos) Fail();
  Message answer = Message::parse(text_.substr(0, end), nullptr, false);
  text_.erase(0, end + 1);
  is_asked_ = false;
  if (!answer.is_object()) {
    throw Error(fmt::format("{} gave an answer that is no JSON", python_));
  }
  has_answered_ = true;
  return answer;
}

void PythonChild::TakeAnswer() {
  std::array<char, 65536> part;
  const ssize_t count = read(socket_.get(), part.data(), part.size());
  if (count > 0) text_.append(part.data(), static_cast<size_t>(count));
  is_lost_ = count == 0 || (count < 0 && errno != EINTR);
}

// What there is to be read now, and no more: it may print for ever.
void PythonChild::TakePrinted() {
  std::array<char, 65536> part;
  const ssize_t count = read(printed_.get(), part.data(), part.size());
  if (count > 0) printed_text_.append(part.data(), static_cast<size_t>(count));
  const bool is_over =
      count == 0 || (count < 0 && errno != EINTR && errno != EAGAIN);
  TellLines(is_over);
  if (is_over) printed_.Close();
}

void PythonChild::TellLines(bool at_end) {
  constexpr size_t kLongest = 65536;
  size_t begin = 0;
  for (size_t end = printed_text_.find('\n'); end != std::string::npos;
       begin = end + 1, end = printed_text_.find('\n', begin)) {
    on_print_(std::string_view(printed_text_).substr(begin, end - begin));
  }
  printed_text_.erase(0, begin);
  if (printed_text_.empty() || (!at_end && printed_text_.size() < kLongest)) {
    return;
  }
  on_print_(printed_text_);
  printed_text_.clear();
}

// Does not reap it: its number stays its own until what it left behind has
// ended, too.
bool PythonChild::HasEnded() const {
  siginfo_t info = {};
  constexpr int kLookOnly = WEXITED | WNOHANG | WNOWAIT;
  return waitid(P_PID, static_cast<id_t>(pid_), &info, kLookOnly) != 0 ||
         info.si_pid == pid_;
}

void PythonChild::Fail() {
  End(/*at_once=*/false);
  const std::string how = base::EndText(status_.value_or(0));
  if (has_answered_) {
    throw Error(fmt::format("its Python process has ended by {}", how));
  }
  throw Error(
      fmt::format("`{} -m smdebug.rules.rule_invoker` has ended by {} before "
                  "it began; {}",
                  python_, how, kAdvice));
}

void PythonChild::End(bool at_once) noexcept {
  socket_.Close();
  if (status_) return;
  try {
    const auto id = base::FindProcess(pid_);
    const auto process = id ? base::Process::Open(*id) : std::nullopt;
    if (process && !at_once)
      process->WaitUntil(base::DeadlineAfter(kChildGrace));
    base::EndProcesses([&] { return base::GroupMembers(pid_); }, kChildGrace);
  } catch (const std::exception&) {
    kill(-pid_, SIGKILL);
  }
  status_ = base::Reap(pid_).value_or(0);
  if (printed_.get() < 0) return;
  try {
    // A pipe holds no more than this.
    for (int parts = 0; parts < 16 && printed_.get() >= 0; ++parts) {
      TakePrinted();
    }
    TellLines(/*at_end=*/true);
  } catch (const std::exception&) {  // Nobody to say it to.
  }
}

}  // namespace smdebug::rules
