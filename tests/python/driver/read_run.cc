// Describes runs through the public API, so that the Python tests can compare
// what a trial reads with what was written and with what smdebug 1.0 reads.
//
//   read_run <folder>   prints the document of one run
//   read_run            reads one JSON object per line from standard input,
//                       {"path": folder, "questions": {...}}, and answers each
//                       with the document of that run on one line
//
// tests/testing/run_document.h says what a document holds.
#include <exception>
#include <iostream>
#include <string>

#include "tests/testing/run_document.h"

namespace {

using nlohmann::json;

json AnswerTo(const std::string& line) {
  const json request = json::parse(line);
  return smdebug::testing::ReadRun(request.at("path"),
                                   request.value("questions", json::object()));
}

}  // namespace

int main(int argc, char** argv) try {
  std::ios::sync_with_stdio(false);
  if (argc > 1) {
    std::cout << smdebug::testing::ReadRun(argv[1], json::object()).dump(1)
              << "\n";
    return 0;
  }
  std::string line;
  while (std::getline(std::cin, line)) {
    json answer;
    try {
      answer = AnswerTo(line);
    } catch (const std::exception& error) {
      answer = {{"fault", error.what()}};
    }
    std::cout << answer.dump() << "\n" << std::flush;
  }
  return 0;
} catch (const std::exception& error) {
  std::cerr << "read_run: " << error.what() << "\n";
  return 1;
}
