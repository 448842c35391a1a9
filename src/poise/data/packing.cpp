#include "poise/data/packing.hpp"

#include <cassert>

#include <zstd.h>

#include "poise/base/error.hpp"

namespace poise {
namespace {

constexpr int level = 3;
/// A zstd block of at least 4 bytes (its header and one repeated byte) holds at most 128 KiB.
constexpr std::uint64_t max_ratio = (128 << 10) / 4;

}  // namespace

void fail_damaged(std::string_view name, std::string_view what) {
  fail(ErrorKind::input, "{} is damaged: {}; make it again or restore a copy", name, what);
}

Block make_block(std::uint64_t size) { return {std::make_unique_for_overwrite<std::uint8_t[]>(size), size}; }

std::string compress(std::span<const std::byte> bytes) {
  std::string frame(ZSTD_compressBound(bytes.size()), '\0');
  const std::size_t size = ZSTD_compress(frame.data(), frame.size(), bytes.data(), bytes.size(), level);
  if (ZSTD_isError(size) != 0)
    fail(ErrorKind::resources, "cannot compress {} bytes: {}", bytes.size(), ZSTD_getErrorName(size));
  frame.resize(size);
  frame.shrink_to_fit();
  return frame;
}

std::vector<Frame> split_frames(const Packed& packed, std::int64_t count) {
  std::vector<Frame> frames;
  auto rest = packed.bytes;
  while (!rest.empty()) {
    if (static_cast<std::int64_t>(frames.size()) == count)
      fail_damaged(packed.name, "it has too many frames");
    const std::size_t size = ZSTD_findFrameCompressedSize(rest.data(), rest.size());
    if (ZSTD_isError(size) != 0 || size > rest.size()) fail_damaged(packed.name, "it holds no zstd frame");
    const std::uint64_t content = ZSTD_getFrameContentSize(rest.data(), size);
    if (content == ZSTD_CONTENTSIZE_UNKNOWN || content == ZSTD_CONTENTSIZE_ERROR ||
        content > size * max_ratio)
      fail_damaged(packed.name, "a frame declares an impossible size");
    frames.push_back({rest.first(size), content});
    rest = rest.subspan(size);
  }
  if (static_cast<std::int64_t>(frames.size()) != count) fail_damaged(packed.name, "it has too few frames");
  return frames;
}

void decompress(const Frame& frame, std::span<std::byte> out, std::string_view name) {
  assert(out.size() == frame.content);
  const std::size_t size = ZSTD_decompress(out.data(), out.size(), frame.bytes.data(), frame.bytes.size());
  if (ZSTD_isError(size) != 0 || size != frame.content) fail_damaged(name, "a frame cannot be decompressed");
}

Block decompress(const Frame& frame, std::string_view name) {
  Block block = make_block(frame.content);  // NOLINT(*NewDeleteLeaks): it holds what it is given
  decompress(frame, std::as_writable_bytes(std::span(block.data.get(), block.size)), name);
  return block;
}

std::string pack_numbers(std::span<const std::int64_t> numbers) {
  const Block block = make_block(numbers.size() * max_varint_bytes);
  std::uint8_t* end = block.data.get();
  for (const std::int64_t number : numbers) end = put_varint(end, static_cast<std::uint32_t>(number));
  return compress(std::as_bytes(std::span(block.data.get(), end)));
}

std::vector<std::int64_t> unpack_numbers(const Packed& packed, std::int64_t count, std::int64_t limit) {
  const Frame frame = split_frames(packed, 1).front();
  const auto least = static_cast<std::uint64_t>(count);
  if (frame.content < least || frame.content > least * max_varint_bytes)
    fail_damaged(packed.name, fmt::format("it does not hold {} numbers", count));
  const Block block = decompress(frame, packed.name);
  const std::uint8_t* in = block.data.get();
  const std::uint8_t* const end = in + block.size;
  std::vector<std::int64_t> numbers(count);
  for (std::int64_t& number : numbers) {
    std::uint64_t value = 0;
    in = get_varint(in, end, value);
    if (in == nullptr || value > static_cast<std::uint64_t>(limit))
      fail_damaged(packed.name, "a number is too large or missing");
    number = static_cast<std::int64_t>(value);
  }
  if (in != end) fail_damaged(packed.name, "it has bytes left over");
  return numbers;
}

}  // namespace poise
