#pragma once

#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

namespace smdebug::config {

// A file of its own for one test, removed with this object.
class TempFile {
 public:
  TempFile() : path_(::testing::TempDir() + "smdebug_XXXXXX") {
    const int file = mkstemp(path_.data());
    if (file < 0) throw std::runtime_error("cannot make " + path_);
    close(file);
  }
  ~TempFile() { unlink(path_.c_str()); }

  TempFile(const TempFile&) = delete;
  TempFile& operator=(const TempFile&) = delete;

  const std::string& path() const { return path_; }

  void Write(std::string_view text) const {
    std::ofstream(path_, std::ios::binary | std::ios::trunc) << text;
  }

 private:
  std::string path_;
};

}  // namespace smdebug::config
