#pragma once

#include <cstdint>

// The parts of DLPack's C interface (version 1) that are used here. The layout
// is that of https://dmlc.github.io/dlpack/latest/c_api.html.

struct DLPackTensor {
  void* data;
  int32_t device_type;
  int32_t device_id;
  int32_t ndim;
  uint8_t type_code;
  uint8_t type_bits;
  uint16_t type_lanes;
  int64_t* shape;
  int64_t* strides;
  uint64_t byte_offset;
};

// What a capsule named "dltensor" holds.
struct DLPackOwnedTensor {
  DLPackTensor tensor;
  void* context;
  void (*deleter)(DLPackOwnedTensor* self);
};

struct DLPackExchange {
  uint32_t major;
  uint32_t minor;
  DLPackExchange* previous;
  void* allocate;
  void* managed_from_object;
  void* managed_to_object;
  int (*tensor_from_object)(void* object, DLPackTensor* out);
  void* current_work_stream;
};
