#pragma once

#include <curl/curl.h>

namespace smdebug::actions {

// The functions of libcurl that are used. The library is loaded when they are
// first asked for, so that a process that sends nothing has neither it nor the
// TLS and other libraries that it brings.
struct Curl {
  CURL* (*easy_init)();
  void (*easy_cleanup)(CURL*);
  CURLcode (*easy_setopt)(CURL*, CURLoption, ...);
  CURLcode (*easy_perform)(CURL*);
  CURLcode (*easy_getinfo)(CURL*, CURLINFO, ...);
  const char* (*easy_strerror)(CURLcode);
  curl_slist* (*slist_append)(curl_slist*, const char*);
  void (*slist_free_all)(curl_slist*);
  char* (*version)();
};

// Loads SMDEBUG_LIBCURL if that is set, else the system's. Throws
// std::runtime_error, saying how to get it, if there is none. Thread-safe.
const Curl& LoadCurl();

}  // namespace smdebug::actions
