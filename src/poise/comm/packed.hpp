#pragma once

#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace poise {

/// Several texts of any bytes as one message, and back. Error{resources} if the message is not one of these.
std::string packed(const std::vector<std::string>& parts);
std::vector<std::string> unpacked(std::string_view message);

/// Numbers as bytes, and back. All processes run the same program.
template <class T>
std::string bytes_of(const std::vector<T>& values) {
  static_assert(std::is_arithmetic_v<T>);
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}
template <class T>
std::vector<T> values_of(const std::string& bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  if (!values.empty()) std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
  return values;
}

}  // namespace poise
