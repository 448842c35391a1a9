#pragma once

#include <cstddef>
#include <new>
#include <utility>

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace poise {

/// An allocator that asks the system for large pages if the memory fills at least one: without them,
/// gathering rows from all over a matrix costs a page-table walk per row.
template <class T>
struct LargePages {
  using value_type = T;
  static constexpr std::size_t page = std::size_t{1} << 21;

  LargePages() = default;
  template <class U>
  LargePages(const LargePages<U>& /*other*/) {}  // NOLINT(*-explicit-*)

  [[nodiscard]] T* allocate(std::size_t count) {
    if (count > static_cast<std::size_t>(-1) / sizeof(T)) throw std::bad_array_new_length();
    const std::size_t bytes = count * sizeof(T);
    void* const memory = ::operator new(bytes, alignment(bytes));
#ifdef __linux__
    // If the system refuses, only the speed changes.
    if (bytes >= 2 * page) static_cast<void>(madvise(memory, bytes, MADV_HUGEPAGE));
#endif
    return static_cast<T*>(memory);
  }
  void deallocate(T* memory, std::size_t count) noexcept {
    ::operator delete(memory, alignment(count * sizeof(T)));
  }
  /// Elements made without a value stay uninitialized, so that the thread that fills them touches them first.
  template <class U>
  void construct(U* place) noexcept(noexcept(::new (static_cast<void*>(place)) U)) {
    ::new (static_cast<void*>(place)) U;
  }
  template <class U, class... Args>
  void construct(U* place, Args&&... args) {
    ::new (static_cast<void*>(place)) U(std::forward<Args>(args)...);
  }
  template <class U>
  bool operator==(const LargePages<U>& /*other*/) const {
    return true;
  }

 private:
  static constexpr std::align_val_t alignment(std::size_t bytes) {
    return std::align_val_t{bytes >= 2 * page ? page : std::size_t{64}};
  }
};

}  // namespace poise
