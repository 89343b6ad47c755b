#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "src/base/child.h"
#include "src/base/fd.h"

namespace smdebug::rules {

// The Python that evaluates rules where nobody chose one: that of the
// environment whose package the running `program` is in, by its full path or,
// if it is not beside the package, as after `pip install --user`, by its name;
// else python3.
std::string DefaultPython(const std::filesystem::path& program);

// The Python that evaluates rules: the one that SMDEBUG_PYTHON names, else
// `fallback`, else DefaultPython() of this program.
std::string ChosenPython(const std::string& fallback = {});

// A Python process that evaluates one rule, by questions and answers: one JSON
// object per line each. What the rule prints goes to standard error, or to
// `on_print`, line by line.
//
// The process ends with this object, or with the process that made it, in
// whatever way that ends. One thread at a time.
class PythonChild {
 public:
  using Message = nlohmann::ordered_json;

  // Starts it, by ChosenPython(). Throws Error if there is no such program.
  explicit PythonChild(std::function<void(std::string_view line)> on_print = {},
                       const std::string& fallback = {});
  ~PythonChild();

  PythonChild(const PythonChild&) = delete;
  PythonChild& operator=(const PythonChild&) = delete;

  // Sends a question, which Answer() gives the answer to.
  void Ask(const Message& question);

  // Whether Answer() would not wait, because the answer is there or never will
  // be; waits for it at most so long.
  bool HasAnswer(std::chrono::milliseconds wait);

  // Throws Error if the process has ended or does not answer with an object.
  Message Answer();

  // How long there has been no answer to the last question.
  double SecondsSinceAsked() const;

  // Ends the process, whatever it does.
  void GiveUp() noexcept { End(/*at_once=*/true); }

  // As the user knows it.
  const std::string& python() const noexcept { return python_; }

 private:
  bool HasEnded() const;
  void End(bool at_once) noexcept;
  void TakeAnswer();
  void TakePrinted();
  void TellLines(bool at_end);
  [[noreturn]] void Fail();

  const std::string python_;
  const std::function<void(std::string_view line)> on_print_;
  base::Fd socket_;
  base::Fd printed_;  // Where it prints to, to be read; none without on_print_.
  pid_t pid_ = 0;
  std::optional<int> status_;  // Once it has ended.
  bool has_answered_ = false;
  std::chrono::steady_clock::time_point asked_at_;
  bool is_asked_ = false;     // And has not answered yet.
  bool is_lost_ = false;      // It will never answer.
  std::string text_;          // Received, and not yet a whole line.
  std::string printed_text_;  // Likewise of what it prints.
};

}  // namespace smdebug::rules
