#include <iostream>

#include "src/cli/command.h"

int main(int argc, char** argv) {
  return smdebug::cli::Main({argv + 1, argv + argc}, {std::cout, std::cerr});
}
