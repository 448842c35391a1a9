#pragma once

#include <cstdint>

/// The structures of Arrow's C data and C stream interfaces, whose layout is fixed for all time:
/// https://arrow.apache.org/docs/format/CDataInterface.html
namespace poise::python::arrow {

struct Schema {
  const char* format;
  const char* name;
  const char* metadata;
  std::int64_t flags;
  std::int64_t n_children;
  Schema** children;
  Schema* dictionary;
  void (*release)(Schema*);
  void* private_data;
};

struct Array {
  std::int64_t length;
  std::int64_t null_count;
  std::int64_t offset;
  std::int64_t n_buffers;
  std::int64_t n_children;
  const void** buffers;
  Array** children;
  Array* dictionary;
  void (*release)(Array*);
  void* private_data;
};

struct Stream {
  int (*get_schema)(Stream*, Schema*);
  int (*get_next)(Stream*, Array*);
  const char* (*get_last_error)(Stream*);
  void (*release)(Stream*);
  void* private_data;
};

/// A structure of the interface: its producer's `release` is called once, at the end of the scope.
template <class T>
struct Held {
  T value{};
  Held() = default;
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;
  ~Held() {
    if (value.release != nullptr) value.release(&value);
  }
};

}  // namespace poise::python::arrow
