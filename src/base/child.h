#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

namespace smdebug::base {

// A program to be started.
struct ChildProgram {
  std::vector<std::string> words;  // The program, looked for in PATH, first.
  std::vector<std::string> environment;  // "NAME=value" each, and no others.
  // What it has as its standard streams; this process keeps its own.
  int input = 0;
  int output = 1;
  int error = 2;
};

// "NAME=value" for each variable of this process.
std::vector<std::string> OwnEnvironment();

// Whether StartChild() would find `program`: a file that may be executed, by
// its path or, without a slash, in one of the folders of PATH.
bool IsProgram(const std::string& program);

// Starts a program as the leader of a new group, with signals as they are by
// default; returns its number. Throws std::system_error that names the program.
pid_t StartChild(ChildProgram program);

// Waits until a child has ended, takes it from the table of processes, and
// tells how, as waitpid() does; nullopt if someone else in this process did so
// first.
std::optional<int> Reap(pid_t pid);

// "exit code 3" or "signal 9".
std::string EndText(int status);

}  // namespace smdebug::base
