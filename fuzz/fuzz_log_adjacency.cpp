#include "log_fuzz.hpp"

/// Lines `user item item ...`.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  poise::LogOptions options;
  options.format = poise::LogFormat::adjacency;
  poise::fuzz::read_in_every_way({reinterpret_cast<const char*>(data), size}, options);
  return 0;
}
