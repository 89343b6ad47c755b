#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <protozero/buffer_string.hpp>
#include <protozero/types.hpp>
#include <protozero/varint.hpp>

// The protobuf wire format for writers that know every length beforehand, so
// that a message can be laid around bytes that are not in the buffer. Field
// numbers are below 16: their keys take one byte.
namespace smdebug::record {

template <typename Field>
void AppendKey(Field field, protozero::pbf_wire_type type, std::string& out) {
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

// The key and length of a field whose content the caller appends.
template <typename Field>
void AppendOpening(Field field, uint64_t content_bytes, std::string& out) {
  AppendKey(field, protozero::pbf_wire_type::length_delimited, out);
  protozero::add_varint_to_buffer(&out, content_bytes);
}

template <typename Field>
void AppendText(Field field, std::string_view content, std::string& out) {
  AppendOpening(field, content.size(), out);
  out.append(content);
}

template <typename Field>
void AppendVarint(Field field, uint64_t value, std::string& out) {
  AppendKey(field, protozero::pbf_wire_type::varint, out);
  protozero::add_varint_to_buffer(&out, value);
}

// `value` as its bytes lie in memory: 4 or 8 of them.
template <typename Field, typename T>
void AppendFixed(Field field, T value, std::string& out) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8);
  AppendKey(field,
            sizeof(T) == 8 ? protozero::pbf_wire_type::fixed64
                           : protozero::pbf_wire_type::fixed32,
            out);
  out.append(reinterpret_cast<const char*>(&value), sizeof(T));
}

}  // namespace smdebug::record
