#include "src/trial/place.h"

#include <filesystem>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "smdebug/error.h"
#include "src/config/nearest.h"

namespace smdebug::trial {
namespace {

namespace fs = std::filesystem;

// What is looked at for near names.
constexpr size_t kMostNames = 10'000;

std::vector<std::string> FoldersIn(const fs::path& parent) {
  std::vector<std::string> names;
  std::error_code code;
  for (fs::directory_iterator it(parent, code), end;
       !code && it != end && names.size() < kMostNames; it.increment(code)) {
    std::error_code gone;  // Since it was listed.
    if (it->is_directory(gone)) names.push_back(it->path().filename());
  }
  return names;
}

}  // namespace

std::shared_ptr<Storage> OpenPlace(std::string_view path) {
  if (path.empty()) {
    throw Error("'' names no folder; give the folder of the run (its out_dir)");
  }
  try {
    return OpenStorage(path);
  } catch (const IoError& error) {
    std::error_code code;
    throw Error(fmt::format(
        "{}: {} a file; give the folder of the run (its out_dir)", error.path(),
        fs::exists(error.path(), code) ? "is" : "lies in"));
  }
}

std::string WhichFolderIsAwaited(const std::string& root) {
  std::error_code code;
  const fs::path path(root);
  if (root.find("://") != std::string::npos || fs::exists(path, code)) {
    return {};
  }
  const fs::path parent = path.parent_path();
  std::string text =
      "waiting for a run in this folder, which does not exist yet";
  if (!fs::exists(parent, code)) {
    return text + "; nor does " + parent.string();
  }
  const std::string meant =
      config::DidYouMean(path.filename().string(), FoldersIn(parent));
  return meant.empty() ? text : text + "; " + meant;
}

}  // namespace smdebug::trial
