#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "poise/comm/processes.hpp"

namespace poise {

/// Memory that several processes of one host map, for reading; empty: none.
class HostMemory {
 public:
  HostMemory() = default;
  HostMemory(HostMemory&& other) noexcept { swap(other); }
  HostMemory& operator=(HostMemory&& other) noexcept {
    swap(other);
    return *this;
  }
  HostMemory(const HostMemory&) = delete;
  HostMemory& operator=(const HostMemory&) = delete;
  ~HostMemory();

  [[nodiscard]] std::span<const std::byte> bytes() const { return bytes_; }
  /// How many of them are counted for the other holders (base/memory.hpp).
  [[nodiscard]] std::int64_t elsewhere() const { return elsewhere_; }

 private:
  friend HostMemory hold_once(std::span<const std::byte> own, Processes& processes);
  friend std::vector<HostMemory> hold_each(std::span<const std::byte> own, Processes& processes);
  /// Of the bytes of this file so many count for others.
  void map(int file, std::size_t size, std::size_t elsewhere);
  void swap(HostMemory& other) {
    std::swap(bytes_, other.bytes_);
    std::swap(elsewhere_, other.elsewhere_);
  }

  std::span<const std::byte> bytes_;
  std::int64_t elsewhere_ = 0;
};

/// Bytes that are the same at all processes, which call it together: those of a host get one copy, so that
/// each can free its own. Empty where this process is the only one of its host, the system refuses, or it
/// would get other bytes than its own. The copy has no name and goes with its last holder, however that ends.
HostMemory hold_once(std::span<const std::byte> own, Processes& processes);

/// What each process of this host offers, by ranks, its own among it: empty for those of other hosts, and
/// where the system refuses. They count for the one that offered them. All processes call it together; their
/// bytes need not be alike.
std::vector<HostMemory> hold_each(std::span<const std::byte> own, Processes& processes);

/// Numbers that this process has for itself, or that its host holds once.
template <class T>
class HostArray {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  HostArray() = default;
  HostArray(std::vector<T> own) : own_(std::move(own)) {}  // NOLINT(google-explicit-constructor)

  [[nodiscard]] std::span<const T> view() const {
    const auto shared = shared_.bytes();
    if (shared.empty()) return own_;
    return {reinterpret_cast<const T*>(shared.data()), shared.size() / sizeof(T)};
  }
  operator std::span<const T>() const { return view(); }  // NOLINT(*-explicit-*)
  [[nodiscard]] bool empty() const { return view().empty(); }
  [[nodiscard]] std::size_t size() const { return view().size(); }
  /// All processes, of which each has these numbers, call it together.
  void hold_once(Processes& processes) {
    shared_ = poise::hold_once(std::as_bytes(std::span<const T>(own_)), processes);
    if (!shared_.bytes().empty()) own_ = {};
  }

 private:
  std::vector<T> own_;
  HostMemory shared_;
};

}  // namespace poise
