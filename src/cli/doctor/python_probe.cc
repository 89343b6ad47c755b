#include "src/cli/doctor/python_probe.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string_view>
#include <system_error>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "src/base/child.h"
#include "src/base/clock.h"
#include "src/base/fd.h"
#include "src/config/framework.h"

namespace smdebug::cli {
namespace {

using nlohmann::json;

// Prints one JSON object per line, so that what comes before a crash is known.
// The arguments: "import" or "look", and the modules. Of Python 3.8 and later.
constexpr char kProbeProgram[] = R"py(
import importlib.metadata, importlib.util, json, os, re, subprocess, sys

out = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)  # What a package prints is no answer.

def say(**facts):
    print(json.dumps(facts), file=out, flush=True)

def last_line(error):
    return (str(error).strip() or type(error).__name__).splitlines()[-1]

def version_of(module):
    ours = re.compile(module + r"([-_](cpu|gpu|cu\w+|rocm\w*|intel|macos|nightly))?$", re.I)
    for found in importlib.metadata.distributions():
        if ours.match(found.metadata["Name"] or ""):
            return found.version
    return ""

def place_of(module):
    spec = importlib.util.find_spec(module)
    if spec is None:
        return ""
    return (list(spec.submodule_search_locations or []) or [spec.origin or ""])[0]

def look(module):
    facts = {"version": "", "place": "", "error": ""}
    try:
        facts["version"] = version_of(module)
        facts["place"] = place_of(module)
        if facts["version"] and not facts["place"]:
            facts["error"] = "it is installed, but Python does not find it"
    except Exception as error:
        facts["error"] = last_line(error)
    return facts

def try_import(module, facts):
    code = f"import {module}; print(); print(getattr({module}, '__version__', ''))"
    done = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, universal_newlines=True, errors="replace")
    if done.returncode < 0:
        facts["error"] = f"importing it ends Python by signal {-done.returncode}"
    elif done.returncode > 0:
        facts["error"] = last_line(done.stderr)
    elif not facts["version"]:
        facts["version"] = done.stdout.splitlines()[-1]

say(version="%d.%d.%d" % sys.version_info[:3], place=sys.executable)
for module in sys.argv[2:]:
    facts = look(module)
    if sys.argv[1] == "import" and facts["place"]:
        try_import(module, facts)
    say(framework=module, **facts)
facts = look("smdebug")
if facts["place"]:
    try:
        import smdebug
        facts["version"] = smdebug.__version__
    except Exception as error:
        facts["error"] = f"{type(error).__name__}: {last_line(error)}"
say(smdebug=True, **facts)
)py";

// What a child has printed until it ended, and how it did.
struct Outcome {
  std::string text;
  std::string error;  // Empty: well.
};

Outcome RunChild(std::vector<std::string> words,
                 std::chrono::milliseconds timeout) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) {
    throw std::system_error(errno, std::generic_category(),
                            "cannot make a pipe");
  }
  const base::Fd ours(ends[0]);
  base::Fd theirs(ends[1]);
  const base::Fd nothing(open("/dev/null", O_RDWR | O_CLOEXEC));
  const std::string program = words.front();
  Outcome outcome;
  pid_t pid = 0;
  try {
    pid = base::StartChild({.words = std::move(words),
                            .environment = base::OwnEnvironment(),
                            .input = nothing.get(),
                            .output = theirs.get(),
                            .error = nothing.get()});
  } catch (const std::system_error& error) {
    outcome.error = error.what();
    return outcome;
  }
  theirs.Close();
  const auto deadline = base::DeadlineAfter(timeout);
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(
        deadline - std::chrono::steady_clock::now());
    if (left.count() <= 0) {
      outcome.error = fmt::format("{} did not answer in {} seconds", program,
                                  timeout.count() / 1000);
      break;
    }
    pollfd ready{.fd = ours.get(), .events = POLLIN, .revents = 0};
    if (poll(&ready, 1, static_cast<int>(left.count())) <= 0) continue;
    std::array<char, 4096> part;
    const ssize_t count = read(ours.get(), part.data(), part.size());
    if (count > 0) outcome.text.append(part.data(), static_cast<size_t>(count));
    if (count == 0 || (count < 0 && errno != EINTR)) break;
  }
  // What has closed its output ends by itself; what has not is ended, with all
  // of its group.
  if (!outcome.error.empty()) kill(-pid, SIGKILL);
  const int status = base::Reap(pid).value_or(0);
  if (outcome.error.empty() && status != 0) {
    outcome.error =
        fmt::format("{} has ended by {}", program, base::EndText(status));
  }
  return outcome;
}

std::string TextOf(const json& facts, const char* key) {
  const auto found = facts.find(key);
  return found != facts.end() && found->is_string() ? found->get<std::string>()
                                                    : std::string();
}

PythonPackage PackageOf(std::string name, const json& facts) {
  return {.name = std::move(name),
          .version = TextOf(facts, "version"),
          .place = TextOf(facts, "place"),
          .error = TextOf(facts, "error")};
}

}  // namespace

PythonReport ProbePython(const std::string& program, bool import,
                         std::chrono::milliseconds timeout) {
  std::vector<std::string> words = {program, "-c", kProbeProgram,
                                    import ? "import" : "look"};
  for (const auto& framework : config::PythonFrameworks()) {
    words.emplace_back(framework.module);
  }
  const Outcome outcome = RunChild(std::move(words), timeout);
  PythonReport report = {.program = program};
  std::string_view text = outcome.text;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const json facts = json::parse(text.substr(0, end), nullptr, false);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (!facts.is_object()) continue;
    if (facts.contains("framework")) {
      report.frameworks.push_back(PackageOf(TextOf(facts, "framework"), facts));
    } else if (facts.contains("smdebug")) {
      report.smdebug = PackageOf("smdebug", facts);
    } else {
      report.version = TextOf(facts, "version");
      report.place = TextOf(facts, "place");
    }
  }
  report.error = outcome.error;
  return report;
}

}  // namespace smdebug::cli
