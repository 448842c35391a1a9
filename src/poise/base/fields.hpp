#pragma once

#include <tuple>

namespace poise {

/// A member of a struct under the key that it has in files.
template <class T, class Value>
struct Field {
  const char* key;
  Value T::*member;
};
template <class T, class Value>
Field(const char*, Value T::*) -> Field<T, Value>;  // clang deduces none for aggregates before version 17

/// What a struct consists of, declared once beside it: a std::tuple of Field. Whatever writes or reads the
/// struct loops over this list.
template <class T>
inline constexpr auto fields = std::tuple();

template <class T>
concept HasFields = std::tuple_size_v<std::remove_const_t<decltype(fields<T>)>> >
0;

/// visit(key, member) for the fields that `list` has of the object, in its order.
template <class List, class T, class Visit>
void each_field(const List& list, T& object, const Visit& visit) {
  std::apply([&](const auto&... field) { (visit(field.key, object.*(field.member)), ...); }, list);
}

}  // namespace poise
