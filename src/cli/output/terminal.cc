#include "src/cli/output/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>

#include <fmt/format.h>

#include "src/base/environment.h"
#include "src/base/text.h"

namespace smdebug::cli {
namespace {

// Whether the locale's character set is UTF-8; the first variable that is set
// to something decides, as for every program.
bool LocaleIsUtf8() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const std::string value = base::Lower(base::GetEnv(name).value_or(""));
    if (value.empty()) continue;
    return value.find("utf-8") != std::string::npos ||
           value.find("utf8") != std::string::npos;
  }
  return false;
}

}  // namespace

Terminal DetectTerminal(int fd) {
  Terminal terminal;
  terminal.utf8 = LocaleIsUtf8();
  // A dumb one takes no more than a pipe does.
  terminal.is_terminal =
      isatty(fd) == 1 && base::GetEnv("TERM").value_or("dumb") != "dumb";
  if (!terminal.is_terminal) return terminal;
  terminal.colour = base::GetEnv("NO_COLOR").value_or("").empty();
  winsize size = {};
  if (ioctl(fd, TIOCGWINSZ, &size) == 0) {
    if (size.ws_col > 0) terminal.width = size.ws_col;
    if (size.ws_row > 0) terminal.height = size.ws_row;
  }
  return terminal;
}

std::string Paint(const Terminal& terminal, Colour colour,
                  std::string_view text) {
  if (!terminal.colour || text.empty()) return std::string(text);
  const int code = colour == Colour::kBold ? 1 : 31;
  return fmt::format("\x1B[{}m{}\x1B[0m", code, text);
}

std::string PaintLines(const Terminal& terminal, Colour colour,
                       std::string_view text) {
  std::string painted;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    painted += Paint(terminal, colour, text.substr(0, end));
    text.remove_prefix(end);
    if (text.empty()) break;
    painted += '\n';
    text.remove_prefix(1);
  }
  return painted;
}

}  // namespace smdebug::cli
