#include "tests/crash/victim.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <stdexcept>
#include <vector>

namespace smdebug::testing {
namespace {

// Longer than anything that ends takes on any machine.
constexpr int kEndlessMilliseconds = 120'000;

}  // namespace

Victim::Victim(const std::string& out_dir, const VictimOptions& options) {
  std::vector<std::string> words = {
      CRASH_VICTIM,
      out_dir,
      "tag=" + std::to_string(options.tag),
      "rank=" + std::to_string(options.rank),
      "workers=" + std::to_string(options.workers),
      "is_all=" + std::to_string(int{options.is_all}),
      "steps=" + std::to_string(options.steps),
      "paced=" + std::to_string(int{options.paced}),
      "fails=" + std::to_string(int{options.fails})};
  if (options.outlives) {
    words.push_back("outlives=" + std::to_string(*options.outlives));
  }
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  std::string kill_at = "SMDEBUG_KILL_AT=" + options.kill_at;
  // One job of several workers does not join another that came before.
  std::string job = "SMDEBUG_JOB_ID=" + VictimJob(options.tag);
  char* const env[] = {kill_at.data(),
                       options.workers > 1 ? job.data() : nullptr, nullptr};

  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("pipe");
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
  const int failed =
      posix_spawn(&pid_, argv[0], &actions, nullptr, argv.data(), env);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  pipe_ = ends[0];
  if (failed != 0) {
    close(pipe_);
    throw std::runtime_error("cannot start " + words[0]);
  }
}

Victim::~Victim() {
  if (pid_ != 0) {
    Kill();
    waitpid(pid_, nullptr, 0);
  }
  close(pipe_);
}

void Victim::AwaitLines(size_t lines) {
  const auto said = [this] {
    return static_cast<size_t>(std::ranges::count(output_, '\n'));
  };
  while (said() < lines && ReadMore()) {
  }
}

bool Victim::ReadMore() {
  pollfd waiting = {.fd = pipe_, .events = POLLIN, .revents = 0};
  const int ready = poll(&waiting, 1, kEndlessMilliseconds);
  if (ready < 0) return errno == EINTR;
  if (ready == 0) {
    throw std::runtime_error("the victim waits without end: " + output_);
  }
  char buffer[4096];
  const ssize_t got = read(pipe_, buffer, sizeof(buffer));
  if (got < 0) return errno == EINTR;
  output_.append(buffer, static_cast<size_t>(got));
  return got > 0;
}

void Victim::Kill() { kill(pid_, SIGKILL); }

void Victim::AwaitEnd() {
  if (pid_ == 0) return;
  while (ReadMore()) {
  }
  int status = 0;
  if (waitpid(pid_, &status, 0) != pid_) throw std::runtime_error("waitpid");
  pid_ = 0;
  killed_ = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
  if (WIFEXITED(status)) exit_code_ = WEXITSTATUS(status);
}

bool Victim::Said(const std::string& word) const {
  return ("\n" + output_).find("\n" + word + " ") != std::string::npos;
}

int64_t Victim::saved() const {
  const size_t last = output_.rfind("\nsaved ");
  if (last == std::string::npos) return 0;
  return std::stoll(output_.substr(last + 7));
}

}  // namespace smdebug::testing
