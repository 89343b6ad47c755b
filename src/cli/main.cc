#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <iostream>

#include "src/cli/command.h"
#include "src/cli/output/terminal.h"

int main(int argc, char** argv) {
  using smdebug::cli::DetectTerminal;
  // `smdebug ls run | head` ends quietly, whatever the parent process ignores.
  signal(SIGPIPE, SIG_DFL);
  std::ios::sync_with_stdio(false);
  const int code =
      smdebug::cli::Main({argv + 1, argv + argc},
                         {std::cout, std::cerr, DetectTerminal(STDOUT_FILENO),
                          DetectTerminal(STDERR_FILENO)});
  errno = 0;
  std::cout.flush();
  if (!std::cout) {
    std::cerr << "smdebug: standard output could not be written\n";
    return smdebug::cli::kExitError;
  }
  return code;
}
