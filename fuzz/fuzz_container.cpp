#include <cstdint>
#include <cstring>
#include <vector>

#include <xxhash.h>

#include "poise/base/error.hpp"
#include "poise/io/container.hpp"

namespace {

void read_all(const std::vector<std::byte>& bytes) {
  try {
    const auto container = poise::Container::parse(bytes, "input", 1);
    std::uint64_t sum = 0;
    for (const poise::Tensor& tensor : container.tensors())
      for (const std::byte byte : tensor.bytes) sum += static_cast<std::uint64_t>(byte);
    volatile std::uint64_t sink = sum;
    (void)sink;
    // What was read must be writable, and read the same again.
    const auto again = poise::container_bytes(container.metadata(), container.tensors());
    const auto reread = poise::Container::parse(again, "output", 1);
    if (reread.metadata() != container.metadata() || reread.tensors().size() != container.tensors().size())
      __builtin_trap();
  } catch (const poise::Error&) {
  }
}

/// The header's and the first chunk's checksums made right, so that the checks behind them are reached.
void repair(std::vector<std::byte>& bytes) {
  std::uint64_t length = 0;
  if (bytes.size() < 16) return;
  std::memcpy(&length, bytes.data(), sizeof length);
  if (length > bytes.size() - 16) {
    length = (bytes.size() - 16) / 8 * 8;
    std::memcpy(bytes.data(), &length, sizeof length);
  }
  const std::uint64_t header = XXH3_64bits(bytes.data(), 8 + length);
  std::memcpy(bytes.data() + 8 + length, &header, sizeof header);
  if (bytes.size() < 8 + length + 16) return;
  const std::uint64_t rest = XXH3_64bits(bytes.data() + 8 + length + 16, bytes.size() - (8 + length + 16));
  std::memcpy(bytes.data() + 8 + length + 8, &rest, sizeof rest);
}

}  // namespace

/// Container::parse on any bytes: only poise::Error may come out.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto* first = reinterpret_cast<const std::byte*>(data);
  std::vector<std::byte> bytes(first, first + size);
  read_all(bytes);
  repair(bytes);
  read_all(bytes);
  return 0;
}
