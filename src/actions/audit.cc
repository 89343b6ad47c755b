#include "src/actions/audit.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "src/base/environment.h"
#include "src/base/json_writer.h"

namespace smdebug::actions {
namespace {

// A local path as the storage drivers understand it.
std::string LocalPath(std::string_view run) {
  constexpr std::string_view kScheme = "file://";
  if (run.starts_with(kScheme)) run.remove_prefix(kScheme.size());
  return base::ExpandHome(run);
}

}  // namespace

std::string AuditLine(const Firing& firing, const ActionOutcome& outcome,
                      double wall_seconds) {
  using Result = ActionOutcome::Result;
  base::JsonWriter json;
  json.BeginObject();
  json.Key("time").Double(wall_seconds);
  json.Key("rule").String(firing.rule);
  json.Key("step");
  if (firing.step) {
    json.Int(*firing.step);
  } else {
    json.Null();
  }
  json.Key("message").String(firing.message);
  json.Key("action").String(ActionKindName(outcome.kind));
  json.Key("target").String(outcome.target);
  json.Key("outcome").String(ResultName(outcome.result));
  json.Key("detail").String(outcome.detail);
  json.Key("dry_run").Bool(outcome.result == Result::kDryRun);
  json.Key("suppressed").Bool(outcome.result == Result::kSuppressed);
  json.Key("suppressed_before").Int(outcome.suppressed);
  json.EndObject();
  return json.Take() + "\n";
}

void AppendAudit(const std::string& run, std::string_view line) {
  const std::string root = LocalPath(run);
  const std::string path = root + "/" + std::string(kAuditKey);
  const std::string folder = path.substr(0, path.rfind('/'));
  constexpr mode_t kFolderMode = 0777;
  if (mkdir(folder.c_str(), kFolderMode) != 0 && errno != EEXIST) {
    throw IoError("make", folder, errno);
  }
  constexpr mode_t kFileMode = 0666;
  const int fd =
      open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, kFileMode);
  if (fd < 0) throw IoError("open", path, errno);
  ssize_t written = 0;
  do {
    written = write(fd, line.data(), line.size());
  } while (written < 0 && errno == EINTR);
  const int code = written < 0 ? errno : EIO;
  const bool is_whole = written == static_cast<ssize_t>(line.size());
  close(fd);
  if (!is_whole) throw IoError("append to", path, code);
}

}  // namespace smdebug::actions
