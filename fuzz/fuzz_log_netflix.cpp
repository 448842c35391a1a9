#include "log_fuzz.hpp"

/// Netflix' layout: the first byte chooses whether there is a threshold, the rest is the file.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  poise::LogOptions options;
  options.format = poise::LogFormat::netflix;
  if ((data[0] & 1U) != 0) options.keep_above = 3.5;
  poise::fuzz::read_in_every_way({reinterpret_cast<const char*>(data) + 1, size - 1}, options);
  return 0;
}
