#include "smdebug/internal/class_patterns.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "smdebug/error.h"
#include "src/base/regex.h"

namespace smdebug::config {
namespace {

constexpr std::string_view kInput = "_input_";
constexpr std::string_view kOutput = "_output_";

// So many tensors of a module are tried.
constexpr int kMostNumbers = 10;

bool TakesAny(const base::Regex& regex, std::string_view module,
              std::string_view kind) {
  for (int number = 0; number < kMostNumbers; ++number) {
    if (regex.Search(fmt::format("{}{}{}", module, kind, number))) return true;
  }
  return false;
}

// Which tensors of a module of some class are taken.
struct Taken {
  bool inputs = false;
  bool outputs = false;
};

// A regex that matches `text` alone; good in Python, too.
std::string Escaped(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80 && std::isalnum(byte) == 0 && c != '_') {
      escaped.push_back('\\');
    }
    escaped.push_back(c);
  }
  return escaped;
}

}  // namespace

std::string ModulePattern(std::span<const std::string> modules, bool inputs,
                          bool outputs) {
  if (modules.empty() || (!inputs && !outputs)) return {};
  std::vector<std::string> escaped;
  for (const std::string& name : modules) escaped.push_back(Escaped(name));
  const std::string_view kinds = !outputs ? "input"
                                 : inputs ? "(?:input|output)"
                                          : "output";
  const std::string names =
      escaped.size() == 1 ? escaped.front()
                          : fmt::format("(?:{})", fmt::join(escaped, "|"));
  return fmt::format(R"(^{}_{}_\d+$)", names, kinds);
}

std::string WithClasses(std::string_view regex,
                        std::span<const NamedModule> modules,
                        std::span<const std::string> names) {
  const base::Regex asked(regex, "include_regex");
  const bool means_names =
      std::ranges::any_of(
          names, [&](const std::string& name) { return asked.Search(name); }) ||
      std::ranges::any_of(modules, [&](const NamedModule& module) {
        return TakesAny(asked, module.name, kInput) ||
               TakesAny(asked, module.name, kOutput);
      });
  if (means_names) return std::string(regex);
  std::map<std::string, Taken> classes;
  std::array<std::vector<std::string>, 3> taken;  // Inputs, outputs, both.
  for (const NamedModule& module : modules) {
    const auto [found, is_new] = classes.try_emplace(module.class_name);
    Taken& of_class = found->second;
    if (is_new) {
      of_class.inputs = TakesAny(asked, module.class_name, kInput);
      of_class.outputs = TakesAny(asked, module.class_name, kOutput);
    }
    if (!of_class.inputs && !of_class.outputs) continue;
    taken[of_class.inputs && of_class.outputs ? 2 : (of_class.outputs ? 1 : 0)]
        .push_back(module.name);
  }
  std::vector<std::string> patterns = {std::string(regex)};
  for (size_t kind = 0; kind < taken.size(); ++kind) {
    std::string pattern = ModulePattern(taken[kind], kind != 1, kind != 0);
    if (!pattern.empty()) patterns.push_back(std::move(pattern));
  }
  return fmt::format("{}", fmt::join(patterns, "|"));
}

void TakeClasses(std::span<const NamedModule> modules,
                 std::span<const std::string> names, HookConfig& config) {
  const auto widen = [&](std::vector<std::string>& patterns,
                         std::span<const std::string> kept) {
    for (std::string& pattern : patterns) {
      if (std::ranges::find(kept, pattern) != kept.end()) continue;
      try {
        pattern = WithClasses(pattern, modules, names);
      } catch (const ConfigError&) {
        continue;
      }
    }
  };
  const auto built_ins = BuiltInCollections(config.framework);
  for (Collection& collection : config.collections) {
    const auto built_in = built_ins.find(collection.name);
    widen(collection.include_regex,
          built_in == built_ins.end()
              ? std::span<const std::string>()
              : std::span<const std::string>(built_in->second.include_regex));
  }
  widen(config.include_regex, {});
}

}  // namespace smdebug::config
