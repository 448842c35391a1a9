#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "poise/base/error.hpp"
#include "poise/data/log/byte_source.hpp"

namespace {

constexpr std::size_t most = 4U << 20U;  // a small input may decompress to gigabytes

/// The decompressed bytes, read in steps of this size, and whether an error ended them.
std::string read_all(std::string_view stored, std::size_t step) {
  std::string result;
  try {
    const auto source = poise::logs::open_bytes(stored, "input");
    std::string buffer(step, '\0');
    while (result.size() < most) {
      const std::size_t count = source->read(buffer.data(), std::min(step, most - result.size()));
      if (count == 0) {
        if (source->consumed() != stored.size()) std::abort();
        return result + "complete";
      }
      result.append(buffer, 0, count);
    }
  } catch (const poise::Error&) {
    return "error";
  }
  return result;
}

}  // namespace

/// Plain, gzip and zstd streams; how they are read must not matter.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view stored(reinterpret_cast<const char*>(data), size);
  const std::string large_steps = read_all(stored, 1U << 16U);
  const std::string small_steps = read_all(stored, 37);
  // libzstd compares a frame's size with the one it declares only when it decodes it in one go, so that an
  // error may show in one way of reading alone.
  const bool error = large_steps == "error" || small_steps == "error";
  if (!error && large_steps != small_steps) std::abort();
  return 0;
}
