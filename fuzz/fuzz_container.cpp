#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <xxhash.h>

#include "poise/base/error.hpp"
#include "poise/storage/container.hpp"

namespace {

void read_all(const std::vector<std::byte>& bytes) {
  std::optional<poise::Container> container;
  try {
    container = poise::Container::parse(bytes, "input", 1);
  } catch (const poise::Error&) {
    return;
  }
  // What was read must be writable (which touches every byte), and read the same again.
  const auto again = poise::container_bytes(container->metadata(), container->tensors());
  const auto reread = poise::Container::parse(again, "output", 1);
  if (reread.metadata() != container->metadata() || reread.tensors().size() != container->tensors().size())
    __builtin_trap();
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

/// The input as the rest of a header that begins as it must, with 64 bytes of data.
std::vector<std::byte> as_header(const std::uint8_t* data, std::size_t size) {
  std::string text = R"({"checksums":{"dtype":"U64","shape":[2],"data_offsets":[0,16]},)";
  text.append(reinterpret_cast<const char*>(data), size);
  text.resize((text.size() + 7) / 8 * 8, ' ');
  const std::uint64_t length = text.size();
  text.insert(0, reinterpret_cast<const char*>(&length), sizeof length);
  text.append(16 + 64, '\0');
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

}  // namespace

/// Container::parse on any bytes: only poise::Error may come out.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto* first = reinterpret_cast<const std::byte*>(data);
  std::vector<std::byte> bytes(first, first + size);
  read_all(bytes);
  repair(bytes);
  read_all(bytes);
  bytes = as_header(data, size);
  repair(bytes);
  read_all(bytes);
  return 0;
}
