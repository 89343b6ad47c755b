// `smdebug` in the folder of scripts that pip puts it into. The program itself
// is inside the package, smdebug/bin/smdebug, where it finds the libraries that
// a wheel brings along; this one, which needs none, runs it in its place.
//
// The package is looked for below the folder that this program's own is in:
// lib/pythonX.Y/site-packages, as pip lays it out (also lib64, and
// dist-packages of Debian), in the newest Python if several have it; or there
// itself, as `pip install --target` does.

#include <dirent.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>
#include <initializer_list>

namespace {

constexpr char kProgram[] = "smdebug/bin/smdebug";
constexpr char kPython[] = "python3.";

// A path; too long a one is never found.
struct Path {
  char text[PATH_MAX] = "";
};

bool IsProgram(const Path& path) { return access(path.text, X_OK) == 0; }

template <typename... Parts>
Path Join(const char* format, Parts... parts) {
  Path path;
  const int size = snprintf(path.text, sizeof(path.text), format, parts...);
  if (size < 0 || size >= static_cast<int>(sizeof(path.text))) *path.text = 0;
  return path;
}

// Cuts the last part off `path`.
void Ascend(Path& path) {
  char* const slash = strrchr(path.text, '/');
  if (slash != nullptr) *slash = 0;
}

// Looks into `library`, such as /usr/lib; `found` is replaced by what a newer
// Python has.
void Search(const Path& library, char (&newest)[NAME_MAX + 1], Path& found) {
  DIR* const folder = opendir(library.text);
  if (folder == nullptr) return;
  // One thread, and a stream of its own.
  while (const dirent* entry = readdir(folder)) {  // NOLINT(concurrency-*)
    if (strncmp(entry->d_name, kPython, strlen(kPython)) != 0) continue;
    if (strverscmp(entry->d_name, newest) <= 0) continue;
    for (const char* packages : {"site-packages", "dist-packages"}) {
      const Path candidate =
          Join("%s/%s/%s/%s", library.text, entry->d_name, packages, kProgram);
      if (!IsProgram(candidate)) continue;
      snprintf(newest, sizeof(newest), "%s", entry->d_name);
      found = candidate;
      break;
    }
  }
  closedir(folder);
}

}  // namespace

int main(int /*argc*/, char** argv) {
  Path prefix;
  if (readlink("/proc/self/exe", prefix.text, sizeof(prefix.text) - 1) < 0) {
    fprintf(stderr, "smdebug: cannot read /proc/self/exe: %s\n",
            strerror(errno));  // NOLINT(concurrency-mt-unsafe)
    return 2;
  }
  Ascend(prefix);
  Ascend(prefix);

  Path program;
  char newest[NAME_MAX + 1] = "";
  for (const char* library : {"lib", "lib64"}) {
    Search(Join("%s/%s", prefix.text, library), newest, program);
  }
  if (!IsProgram(program)) program = Join("%s/%s", prefix.text, kProgram);
  if (IsProgram(program)) execv(program.text, argv);
  fprintf(stderr,
          "smdebug: the Python package smdebug is not installed below %s; "
          "install it again\n",
          prefix.text);
  return 2;
}
