#include "src/cli/doctor/installation.h"

#include <sys/utsname.h>
#include <unistd.h>
#ifdef __GLIBC__
#include <gnu/libc-version.h>
#endif

#include <algorithm>
#include <exception>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "smdebug/config.h"
#include "smdebug/version.h"
#include "src/actions/transfer.h"
#include "src/base/child.h"
#include "src/cli/output/text.h"
#include "src/config/framework.h"
#include "src/reduce/kernels.h"
#include "src/rules/engine/python_child.h"

namespace smdebug::cli {
namespace {

namespace fs = std::filesystem;

std::string CompilerName() {
#ifdef __clang__
  return std::string("Clang ") + __clang_version__;
#else
  return std::string("GCC ") + __VERSION__;
#endif
}

std::string BuildKind() {
  std::string kind = fmt::format("C++{}", (__cplusplus / 100) % 100);
#ifdef __OPTIMIZE__
  kind += ", optimised";
#else
  kind += ", not optimised";
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  kind += ", with a sanitizer";
#endif
  return kind;
}

std::string SystemName() {
  utsname name = {};
  if (uname(&name) != 0) return "unknown";
  std::string text =
      fmt::format("{} {} {}", name.sysname, name.release, name.machine);
#ifdef __GLIBC__
  text += fmt::format(", glibc {}", gnu_get_libc_version());
#endif
  return text;
}

ConfigFile ProbeConfig() {
  ConfigFile file = {.path = HookConfigPath()};
  std::error_code ignored;
  file.exists = fs::exists(file.path, ignored);
  if (!file.exists) return file;
  try {
    file.out_dir = LoadHookConfig(file.path, Framework::kNative).out_dir;
  } catch (const std::exception& error) {
    file.error = error.what();
  }
  return file;
}

Folder ProbeFolder(const fs::path& path) {
  std::error_code error;
  Folder folder = {.path = path.string(),
                   .is_writable = access(path.c_str(), W_OK) == 0};
  const fs::space_info space = fs::space(path, error);
  if (!error) folder.free_bytes = space.available;
  return folder;
}

const config::PythonFramework* FindFramework(std::string_view module) {
  const auto all = config::PythonFrameworks();
  const auto found =
      std::ranges::find(all, module, &config::PythonFramework::module);
  return found == all.end() ? nullptr : &*found;
}

// "supported", or why not.
std::string SupportOf(const PythonPackage& package) {
  const config::PythonFramework* framework = FindFramework(package.name);
  if (framework == nullptr || framework->least.empty()) {
    return "there is no hook for it yet";
  }
  if (package.version.empty()) return "of unknown version";
  if (config::IsSupported(*framework, package.version)) return "supported";
  return fmt::format("too old: {} and later are supported", framework->least);
}

std::string DescribePackage(const PythonPackage& package) {
  if (!package.is_there()) {
    return package.error.empty() ? "not installed" : package.error;
  }
  std::string text = package.version;
  const auto add = [&](const std::string& more) {
    if (!more.empty()) text += (text.empty() ? "" : ", ") + more;
  };
  if (package.name != "smdebug") add(SupportOf(package));
  add(package.place);
  if (!package.error.empty()) add("broken: " + package.error);
  return text;
}

std::string DescribePython(const PythonReport& python) {
  if (python.version.empty()) {
    return fmt::format("none was found that runs: {}", python.error);
  }
  std::string text = fmt::format("{}, {}", python.version, python.place);
  if (!python.error.empty()) text += "; " + python.error;
  return text;
}

std::string DescribeConfig(const ConfigFile& file) {
  if (!file.exists) return file.path + ": there is none";
  if (!file.error.empty()) return "refused: " + file.error;
  return fmt::format("{}: accepted{}", file.path,
                     file.out_dir.empty() ? "" : ", writes to " + file.out_dir);
}

std::string DescribeFolder(const Folder& folder) {
  return fmt::format("{}, {}{} free", folder.path,
                     folder.is_writable ? "" : "not writable, ",
                     HumanBytes(folder.free_bytes));
}

Json PackageJson(const PythonPackage& package) {
  const auto text = [](const std::string& value) {
    return value.empty() ? Json() : Json(value);
  };
  return {{"name", package.name},
          {"version", text(package.version)},
          {"path", text(package.place)},
          {"error", text(package.error)}};
}

Json FolderJson(const Folder& folder) {
  return {{"path", folder.path},
          {"writable", folder.is_writable},
          {"free_bytes", folder.free_bytes}};
}

}  // namespace

Installation ProbeInstallation(const ProbeOptions& options) {
  std::error_code ignored;
  Installation found = {
      .program = fs::read_symlink("/proc/self/exe", ignored).string(),
      .compiler = CompilerName(),
      .build = BuildKind(),
      .system = SystemName(),
      .targets = reduce::UsableTargets(),
      .python =
          ProbePython(rules::ChosenPython(), options.import, options.timeout),
      .config = ProbeConfig(),
      .variables = VariablesOf(base::OwnEnvironment()),
      .folder = ProbeFolder(fs::current_path(ignored)),
      .temporary = ProbeFolder(fs::temp_directory_path(ignored)),
  };
  try {
    found.curl = actions::CurlVersion();
  } catch (const std::exception& error) {
    found.curl_error = error.what();
  }
  return found;
}

std::vector<std::string> ProblemsOf(const Installation& found) {
  std::vector<std::string> problems;
  const PythonReport& python = found.python;
  // Where nobody has chosen one, there may be none.
  const bool is_chosen =
      std::ranges::find(found.variables, "SMDEBUG_PYTHON",
                        &SetVariable::name) != found.variables.end();
  if (!python.error.empty() && (is_chosen || !python.version.empty())) {
    problems.push_back(python.error);
  }
  const PythonPackage& own = python.smdebug;
  if (!own.error.empty()) {
    problems.push_back(
        fmt::format("smdebug of {}: {}", python.program, own.error));
  } else if (!own.version.empty() && own.version != kVersion) {
    problems.push_back(fmt::format("smdebug of {} is {}, and this program {}",
                                   python.program, own.version, kVersion));
  }
  for (const PythonPackage& package : python.frameworks) {
    if (!package.error.empty()) {
      problems.push_back(fmt::format("{}: {}", package.name, package.error));
      continue;
    }
    const config::PythonFramework* framework = FindFramework(package.name);
    if (framework != nullptr && !framework->least.empty() &&
        !package.version.empty() &&
        !config::IsSupported(*framework, package.version)) {
      problems.push_back(fmt::format("{} {} is {}", package.name,
                                     package.version, SupportOf(package)));
    }
  }
  if (!found.config.error.empty()) problems.push_back(found.config.error);
  for (const SetVariable& variable : found.variables) {
    if (!variable.problem.empty()) problems.push_back(variable.problem);
  }
  return problems;
}

std::string InstallationText(const Installation& found,
                             const Terminal& terminal) {
  std::vector<std::pair<std::string, std::string>> lines = {
      {"smdebug", fmt::format("{}, {}", kVersion, found.program)},
      {"built with", fmt::format("{}, {}", found.compiler, found.build)},
      {"system", found.system},
      {"SIMD", fmt::format("{} in use, of {}", found.targets.front(),
                           fmt::join(found.targets, ", "))},
      {"libcurl", found.curl.empty() ? found.curl_error : found.curl},
      {"Python", DescribePython(found.python)},
  };
  if (!found.python.version.empty()) {
    lines.emplace_back("  smdebug", DescribePackage(found.python.smdebug));
    for (const PythonPackage& package : found.python.frameworks) {
      lines.emplace_back("  " + package.name, DescribePackage(package));
    }
  }
  lines.emplace_back("configuration", DescribeConfig(found.config));
  std::string title = "variables";
  for (const SetVariable& variable : found.variables) {
    lines.emplace_back(
        std::exchange(title, ""),
        variable.name +
            (variable.is_private ? " is set" : "=" + variable.value));
  }
  if (found.variables.empty()) lines.emplace_back(title, "none is set");
  lines.emplace_back("folder", DescribeFolder(found.folder));
  lines.emplace_back("temporary", DescribeFolder(found.temporary));
  const std::vector<std::string> problems = ProblemsOf(found);
  if (problems.empty()) lines.emplace_back("problems", "none");
  std::string text;
  const auto line_of = [](std::string_view name, const std::string& value) {
    return fmt::format("{:<14} {}", name, Printable(value));
  };
  for (const auto& [name, value] : lines) text += line_of(name, value) + '\n';
  title = "problems";
  for (const std::string& problem : problems) {
    text += Paint(terminal, Colour::kRed,
                  line_of(std::exchange(title, ""), problem)) +
            '\n';
  }
  return text;
}

Json InstallationJson(const Installation& found) {
  const auto text = [](const std::string& value) {
    return value.empty() ? Json() : Json(value);
  };
  Json frameworks = Json::array();
  for (const PythonPackage& package : found.python.frameworks) {
    Json one = PackageJson(package);
    one["installed"] = package.is_there();
    const config::PythonFramework* framework = FindFramework(package.name);
    one["supported"] = package.is_there() && framework != nullptr &&
                       config::IsSupported(*framework, package.version);
    frameworks.push_back(std::move(one));
  }
  Json variables = Json::object();
  for (const SetVariable& variable : found.variables) {
    variables[variable.name] =
        variable.is_private ? Json() : Json(variable.value);
  }
  return {
      {"version", kVersion},
      {"program", found.program},
      {"compiler", found.compiler},
      {"build", found.build},
      {"system", found.system},
      {"simd_targets", found.targets},
      {"libcurl", text(found.curl)},
      {"python",
       {{"program", found.python.program},
        {"version", text(found.python.version)},
        {"path", text(found.python.place)},
        {"error", text(found.python.error)},
        {"smdebug", PackageJson(found.python.smdebug)},
        {"frameworks", std::move(frameworks)}}},
      {"configuration",
       {{"path", found.config.path},
        {"exists", found.config.exists},
        {"out_dir", text(found.config.out_dir)},
        {"error", text(found.config.error)}}},
      {"variables", std::move(variables)},
      {"folder", FolderJson(found.folder)},
      {"temporary", FolderJson(found.temporary)},
      {"problems", ProblemsOf(found)},
  };
}

}  // namespace smdebug::cli
