#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace smdebug::cli {

// What is at the other end of a stream. The default is a pipe or a file.
struct Terminal {
  bool is_terminal = false;
  bool colour = false;
  bool utf8 = true;
  size_t width = 80;   // Columns; of a terminal only.
  size_t height = 24;  // Lines, likewise.
};

// The terminal behind file descriptor `fd`; one that TERM calls "dumb", or
// nothing, is none. Colour needs one and no NO_COLOR; UTF-8 is what LC_ALL,
// LC_CTYPE or LANG say.
Terminal DetectTerminal(int fd);

enum class Colour { kBold, kRed };

// `text`, in colour where the terminal takes it.
std::string Paint(const Terminal& terminal, Colour colour,
                  std::string_view text);

// The same for each line of a text by itself.
std::string PaintLines(const Terminal& terminal, Colour colour,
                       std::string_view text);

}  // namespace smdebug::cli
