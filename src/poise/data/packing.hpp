#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace poise {

/// The two codings of prepared data: small numbers as LEB128 varints (7 bits a byte, low bits first, the high
/// bit set on all bytes but the last), and zstd frames that state their content's size. Unpacking trusts no
/// input: it checks sizes before it allocates memory, and throws Error{input} for anything inconsistent.

/// Packed bytes of a file and their name in messages.
struct Packed {
  std::span<const std::byte> bytes;
  std::string name;
};

[[noreturn]] void fail_damaged(std::string_view name, std::string_view what);

inline constexpr std::uint64_t max_varint_bytes = 5;

/// Appends numbers below 2^31; the buffer must have room for max_varint_bytes. Returns the new end.
inline std::uint8_t* put_varint(std::uint8_t* out, std::uint32_t number) {
  for (; number >= 0x80; number >>= 7) *out++ = static_cast<std::uint8_t>(number | 0x80);
  *out++ = static_cast<std::uint8_t>(number);
  return out;
}

/// Reads one number below 2^35; returns nullptr if the bytes end or the number has too many bytes.
inline const std::uint8_t* get_varint(const std::uint8_t* in, const std::uint8_t* end,
                                      std::uint64_t& number) {
  number = 0;
  for (int shift = 0; shift < 35; shift += 7) {
    if (in == end) return nullptr;
    const std::uint64_t byte = *in++;
    number |= (byte & 0x7F) << shift;
    if (byte < 0x80) return in;
  }
  return nullptr;
}

/// Uninitialized bytes: filling large blocks first would cost a second pass.
struct Block {
  std::unique_ptr<std::uint8_t[]> data;
  std::uint64_t size = 0;
};
Block make_block(std::uint64_t size);

/// One zstd frame of these bytes.
std::string compress(std::span<const std::byte> bytes);

/// One zstd frame within packed bytes, and its declared content size, which is at most what a frame of its
/// length can hold.
struct Frame {
  std::span<const std::byte> bytes;
  std::uint64_t content = 0;
};

/// The frames that the packed bytes consist of; exactly `count` of them.
std::vector<Frame> split_frames(const Packed& packed, std::int64_t count);

/// Fills `out`, which has the frame's content size.
void decompress(const Frame& frame, std::span<std::byte> out, std::string_view name);
Block decompress(const Frame& frame, std::string_view name);

/// Numbers below 2^31, as one frame of varints.
std::string pack_numbers(std::span<const std::int64_t> numbers);
/// Exactly `count` numbers, each at most `limit`.
std::vector<std::int64_t> unpack_numbers(const Packed& packed, std::int64_t count, std::int64_t limit);

}  // namespace poise
