#include "src/actions/curl.h"

// Macros that check types go by the functions' names.
#undef curl_easy_setopt
#undef curl_easy_getinfo

#include <dlfcn.h>

#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "src/base/environment.h"

namespace smdebug::actions {
namespace {

// Never unloaded: libcurl must not be while the process goes on.
void* Open() {
  std::vector<std::string> names = {"libcurl.so.4", "libcurl-gnutls.so.4"};
  if (const auto own = base::GetEnv("SMDEBUG_LIBCURL")) names = {*own};
  for (const std::string& name : names) {
    if (void* library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL)) {
      return library;
    }
  }
  throw std::runtime_error(fmt::format(
      "cannot load {}: install libcurl (Debian: libcurl4), or name the file in "
      "SMDEBUG_LIBCURL",
      fmt::join(names, " or ")));
}

template <typename Function>
void Find(void* library, const char* name, Function*& function) {
  function = reinterpret_cast<Function*>(dlsym(library, name));
  if (function == nullptr) {
    throw std::runtime_error(fmt::format("libcurl lacks {}", name));
  }
}

Curl Load() {
  void* const library = Open();
  CURLcode (*global_init)(long) = nullptr;  // NOLINT(google-runtime-int)
  Find(library, "curl_global_init", global_init);
  Curl curl{};
  Find(library, "curl_easy_init", curl.easy_init);
  Find(library, "curl_easy_cleanup", curl.easy_cleanup);
  Find(library, "curl_easy_setopt", curl.easy_setopt);
  Find(library, "curl_easy_perform", curl.easy_perform);
  Find(library, "curl_easy_getinfo", curl.easy_getinfo);
  Find(library, "curl_easy_strerror", curl.easy_strerror);
  Find(library, "curl_slist_append", curl.slist_append);
  Find(library, "curl_slist_free_all", curl.slist_free_all);
  Find(library, "curl_version", curl.version);
  if (global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
    throw std::runtime_error("libcurl does not start");
  }
  return curl;
}

}  // namespace

const Curl& LoadCurl() {
  // A failure is tried again, a success is kept.
  static const Curl curl = Load();
  return curl;
}

}  // namespace smdebug::actions
