#pragma once

#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string_view>

namespace smdebug::base {

// The address of a local socket that has a name but no file: Linux keeps it for
// as long as the socket is open. Of a long name the first 107 bytes count.
class AbstractAddress {
 public:
  explicit AbstractAddress(std::string_view name) {
    address_.sun_family = AF_UNIX;
    // Such a name begins with a zero.
    const size_t size = std::min(name.size(), sizeof(address_.sun_path) - 1);
    std::memcpy(address_.sun_path + 1, name.data(), size);
    length_ =
        static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + size);
  }

  const sockaddr* get() const noexcept {
    return reinterpret_cast<const sockaddr*>(&address_);
  }
  socklen_t length() const noexcept { return length_; }

 private:
  sockaddr_un address_ = {};
  socklen_t length_ = 0;
};

}  // namespace smdebug::base
