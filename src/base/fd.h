#pragma once

#include <utility>

namespace smdebug::base {

// Owns a file descriptor; -1 is none. One thread at a time.
class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) noexcept : fd_(fd) {}
  ~Fd() { Close(); }
  Fd(Fd&& other) noexcept : fd_(other.Release()) {}
  Fd& operator=(Fd&& other) noexcept {
    if (this != &other) {
      Close();
      fd_ = other.Release();
    }
    return *this;
  }

  int get() const noexcept { return fd_; }
  bool valid() const noexcept { return fd_ >= 0; }

  // Returns 0 or the errno of close(2), where network file systems report
  // writes that failed late. Does nothing without a descriptor.
  int Close() noexcept;

  // Gives the descriptor away.
  int Release() noexcept { return std::exchange(fd_, -1); }

 private:
  int fd_ = -1;
};

}  // namespace smdebug::base
