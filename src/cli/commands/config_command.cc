#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "smdebug/config.h"
#include "smdebug/error.h"
#include "src/cli/command.h"
#include "src/cli/options.h"
#include "src/cli/output/json_output.h"
#include "src/cli/output/plan_text.h"
#include "src/config/framework.h"
#include "src/config/nearest.h"
#include "src/config/plan.h"

namespace smdebug::cli {
namespace {

// `smdebug config [file]`: prints what a hook with that configuration would do,
// or why it would refuse it.
class ConfigCommand final : public Command {
 public:
  std::string_view name() const override { return "config"; }
  std::string_view summary() const override {
    return "Check a hook configuration and show what it saves.";
  }
  std::string_view examples() const override {
    return "  smdebug config debughookconfig.json\n"
           "  smdebug config --framework xgboost --json hook.json\n";
  }

  std::vector<ExitCode> exit_codes() const override {
    return {{kExitOk, "the configuration is accepted"},
            {kExitError, "it is refused, or cannot be read"}};
  }
  std::string_view details() const override {
    return R"(Checks a configuration file of the hook before a job is started with it. It prints the plan that is in force: every collection, whether it is
saved, when, and in which form, with what it takes from the hook filled in. If the file is refused, it prints the error that the hook would
raise: the key, the value and what is allowed. The keys of the JSON are those of the plan.
)";
  }

  void Declare(CLI::App& app) override {
    app.add_option("file", file_,
                   "JSON file; default: the one that SMDEBUG_CONFIG_FILE_PATH "
                   "names, else SageMaker's own")
        ->type_name("");
    app.add_option_function<std::string>(
           "--framework",
           [this](const std::string& name) {
             const auto framework = config::ParseFramework(name);
             if (!framework) {
               throw ConfigError("--framework", name,
                                 config::OneOf(name, config::FrameworkNames()));
             }
             framework_ = *framework;
           },
           "Whose conventions to follow: native (default), pytorch, "
           "tensorflow, mxnet or xgboost")
        ->type_name("NAME");
    AddJson(app, json_);
  }

  int Run(Streams streams) override {
    const std::string path = HookConfigPath(file_);
    try {
      const HookConfig config = LoadHookConfig(path, framework_);
      const config::Plan plan = config::MakePlan(config);
      if (json_) {
        PrintJson(streams.out, Json::parse(PlanToJson(config, plan)));
      } else {
        streams.out << DescribePlan(config, plan);
      }
      return kExitOk;
    } catch (const ConfigFileError&) {
      throw;  // Names the file itself.
    } catch (const Error& error) {
      // What is wrong with the file as a whole begins with its name.
      if (std::string_view(error.what()).starts_with(path + ":")) throw;
      throw Error(path + ": " + error.what());
    }
  }

 private:
  std::string file_;
  Framework framework_ = Framework::kNative;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> MakeConfigCommand() {
  return std::make_unique<ConfigCommand>();
}

}  // namespace smdebug::cli
