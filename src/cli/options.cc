#include "src/cli/options.h"

#include <charconv>
#include <cmath>
#include <filesystem>
#include <system_error>
#include <utility>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "smdebug/storage.h"
#include "src/base/regex.h"
#include "src/base/text.h"
#include "src/config/nearest.h"
#include "src/config/reduction_config.h"
#include "src/run/survey.h"

namespace smdebug::cli {
namespace {

// Adds an option that `read` takes in; it returns what is allowed instead, or
// an empty text if it could.
template <typename Read>
CLI::Option* AddChecked(CLI::App& app, const std::string& name,
                        const std::string& type, const std::string& description,
                        Read read) {
  return app
      .add_option_function<std::vector<std::string>>(
          name,
          [name, read](const std::vector<std::string>& texts) {
            for (const std::string& text : texts) {
              const std::string allowed = read(text);
              if (allowed.empty()) continue;
              throw CLI::ValidationError(
                  name, fmt::format("'{}' is not allowed; expected {}", text,
                                    allowed));
            }
          },
          description)
      ->type_name(type)
      ->expected(1);
}

// The finite number of 0 or more that `text` is, if it is one.
std::optional<double> ParseNumber(std::string_view text) {
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stop != end) return std::nullopt;
  if (!std::isfinite(number) || number < 0) return std::nullopt;
  return number;
}

bool IsFolderOfRun(const std::string& path) {
  std::error_code code;
  return std::filesystem::is_directory(path, code) &&
         run::HoldsRun(*OpenStorage(path));
}

std::string Describe(WholeNumbers allowed) {
  if (allowed.most == WholeNumbers{}.most) {
    return fmt::format("a whole number of at least {}", allowed.least);
  }
  return fmt::format("a whole number from {} to {}", allowed.least,
                     allowed.most);
}

// What reads a number of seconds into `target`, as AddChecked() takes it.
template <typename Target>
auto SecondsInto(Target& target) {
  return [&target](const std::string& text) -> std::string {
    const auto parsed = ParseNumber(text);
    if (!parsed) return "a number of seconds, 0 or more";
    target = *parsed;
    return {};
  };
}

}  // namespace

void AddRun(CLI::App& app, std::string& run) {
  app.add_option("run", run, "Folder of the run: the hook's out_dir")
      ->required()
      ->type_name("");
}

void AddRunsAndTensor(CLI::App& app, RunsAndTensor& target,
                      const std::string& tensor) {
  app.add_option("run", target.runs,
                 "Folder of the run, or of several, one after the other; then "
                 "the tensor, unless --tensor names it")
      ->required()
      ->expected(-1)
      ->type_name("");
  app.add_option("--tensor", target.tensor, tensor)->type_name("NAME");
  app.callback([&target] {
    if (!target.tensor.empty()) return;
    if (target.runs.size() < 2) {
      throw CLI::ValidationError("<tensor> is missing",
                                 CLI::ExitCodes::ValidationError);
    }
    if (IsFolderOfRun(target.runs.back())) {
      throw CLI::ValidationError(
          fmt::format("<tensor> is missing: '{}' is a run; name the tensor "
                      "after it, or with --tensor",
                      target.runs.back()),
          CLI::ExitCodes::ValidationError);
    }
    target.tensor = std::move(target.runs.back());
    target.runs.pop_back();
  });
}

void AddJson(CLI::App& app, bool& json) {
  app.add_flag("--json", json, "Print JSON instead of text");
}

void AddMode(CLI::App& app, Mode& mode) {
  AddChecked(
      app, "--mode", "MODE",
      "Only steps of this mode, counted within it: train, eval or "
      "predict; global (the default) is all steps",
      [&mode](const std::string& text) -> std::string {
        const auto parsed = ParseMode(text);
        if (!parsed) {
          return config::OneOf(text, {"train", "eval", "predict", "global"});
        }
        mode = *parsed;
        return {};
      });
}

void AddWorker(CLI::App& app, std::optional<std::string>& worker) {
  AddChecked(app, "--worker", "NAME",
             "What this worker saved; default: the first worker, by name, that "
             "saved it",
             [&worker](const std::string& text) -> std::string {
               worker = text;
               return {};
             });
}

void AddRegex(CLI::App& app, std::vector<std::string>& regexes) {
  AddRegex(
      app, "--regex", regexes,
      "Only tensors whose name this matches anywhere (Python's syntax); may "
      "be given several times");
}

void AddRegex(CLI::App& app, const std::string& name,
              std::vector<std::string>& regexes,
              const std::string& description) {
  app.add_option_function<std::vector<std::string>>(
         name,
         [name, &regexes](const std::vector<std::string>& given) {
           for (const std::string& pattern : given) {
             const base::Regex compiles(pattern, name);
           }
           regexes = given;
         },
         description)
      ->type_name("REGEX")
      ->expected(1)
      ->take_all();
}

void AddAscii(CLI::App& app, bool& ascii) {
  app.add_flag("--ascii", ascii,
               "Draw with ASCII characters only; the default where the locale "
               "is not UTF-8");
}

void AddStep(CLI::App& app, std::optional<int64_t>& step, bool or_last) {
  AddChecked(app, "--step", "N",
             or_last ? "The step, counted within the mode; default: last"
                     : "Only this step, counted within the mode",
             [&step, or_last](const std::string& text) -> std::string {
               if (or_last && text == "last") {
                 step.reset();
                 return {};
               }
               const auto parsed = base::ParseInt(text);
               if (!parsed || *parsed < 0) {
                 return or_last ? "a whole number of at least 0, or last"
                                : "a whole number of at least 0";
               }
               step = parsed;
               return {};
             });
}

void AddReductions(CLI::App& app, std::vector<Reduction>& reductions,
                   const std::string& description) {
  AddChecked(app, "--reduction", "NAME", description,
             [&reductions](const std::string& text) -> std::string {
               const auto parsed = ParseReduction(text);
               if (!parsed) return config::AllowedReductions(text);
               reductions.push_back(*parsed);
               return {};
             })
      ->delimiter(',')
      ->take_all();
}

void AddSeconds(CLI::App& app, const std::string& name,
                std::optional<double>& seconds,
                const std::string& description) {
  AddChecked(app, name, "S", description, SecondsInto(seconds));
}

void AddWaitForRun(CLI::App& app, double& seconds) {
  AddChecked(app, "--wait-for-run", "S",
             fmt::format("Give up if no run has appeared in the folder after "
                         "this many seconds; default: {}",
                         seconds),
             SecondsInto(seconds));
}

void AddTolerance(CLI::App& app, const std::string& name, double& tolerance,
                  const std::string& description) {
  AddChecked(app, name, "X", description,
             [&tolerance](const std::string& text) -> std::string {
               const auto parsed = ParseNumber(text);
               if (!parsed) return "a number, 0 or more";
               tolerance = *parsed;
               return {};
             });
}

CLI::Option* AddWhole(CLI::App& app, const std::string& name,
                      WholeNumbers allowed, std::function<void(int64_t)> set,
                      const std::string& description) {
  return AddChecked(
      app, name, "N", description,
      [allowed, set = std::move(set)](const std::string& text) -> std::string {
        const auto parsed = base::ParseInt(text);
        if (!parsed || *parsed < allowed.least || *parsed > allowed.most) {
          return Describe(allowed);
        }
        set(*parsed);
        return {};
      });
}

}  // namespace smdebug::cli
