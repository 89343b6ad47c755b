#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <protozero/types.hpp>
#include <protozero/varint.hpp>

// The protobuf wire format for writers that know every length beforehand, so
// that a message can be laid around bytes that are not in the buffer. Field
// numbers are below 16: their keys take one byte. `out` is a std::string or a
// Room.
namespace smdebug::record {

// Room of known size at the end of a string, to be filled completely. Filling
// it is cheaper than to append piece by piece.
//
// Borrows the string, which must not change meanwhile. One thread at a time.
class Room {
 public:
  // Makes `out` longer by `bytes`.
  Room(std::string& out, size_t bytes) {
    const size_t begin = out.size();
    out.resize(begin + bytes);
    next_ = out.data() + begin;
    end_ = next_ + bytes;
  }

  void push_back(char c) noexcept { *next_++ = c; }
  void append(std::string_view text) noexcept {
    next_ = std::copy(text.begin(), text.end(), next_);
  }

  size_t left() const noexcept { return static_cast<size_t>(end_ - next_); }

 private:
  char* next_;
  const char* end_;
};

template <typename Field, typename Out>
void AppendKey(Field field, protozero::pbf_wire_type type, Out& out) {
  out.push_back(static_cast<char>(static_cast<uint32_t>(field) << 3 |
                                  static_cast<uint32_t>(type)));
}

inline uint64_t VarintBytes(uint64_t value) noexcept {
  return static_cast<uint64_t>(protozero::length_of_varint(value));
}

// Bytes of a whole field: key, length, content.
inline uint64_t FieldBytes(uint64_t content_bytes) noexcept {
  return 1 + VarintBytes(content_bytes) + content_bytes;
}

template <typename Out>
void AppendVarint(uint64_t value, Out& out) {
  for (; value >= 0x80; value >>= 7) {
    out.push_back(static_cast<char>(value | 0x80));
  }
  out.push_back(static_cast<char>(value));
}

// The key and length of a field whose content the caller appends.
template <typename Field, typename Out>
void AppendOpening(Field field, uint64_t content_bytes, Out& out) {
  AppendKey(field, protozero::pbf_wire_type::length_delimited, out);
  AppendVarint(content_bytes, out);
}

template <typename Field, typename Out>
void AppendText(Field field, std::string_view content, Out& out) {
  AppendOpening(field, content.size(), out);
  out.append(content);
}

template <typename Field, typename Out>
void AppendVarint(Field field, uint64_t value, Out& out) {
  AppendKey(field, protozero::pbf_wire_type::varint, out);
  AppendVarint(value, out);
}

// `value` as its bytes lie in memory: 4 or 8 of them.
template <typename Field, typename T, typename Out>
void AppendFixed(Field field, T value, Out& out) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8);
  AppendKey(field,
            sizeof(T) == 8 ? protozero::pbf_wire_type::fixed64
                           : protozero::pbf_wire_type::fixed32,
            out);
  out.append(
      std::string_view(reinterpret_cast<const char*>(&value), sizeof(T)));
}

}  // namespace smdebug::record
