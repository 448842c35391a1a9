#include "poise/data/log_format.hpp"

#include "log_fuzz.hpp"

/// JSON lines: the first byte chooses among the options, the rest is the file.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::uint8_t choice = data[0];
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  poise::LogOptions options;
  options.format = poise::LogFormat::json_lines;
  if ((choice & 1U) != 0) options.columns = {"u", "i"};
  if ((choice & 2U) != 0) options.columns = {"u", "i", "v"};
  if ((choice & 4U) != 0) options.keep_above = 1;
  poise::fuzz::read_in_every_way(bytes, options);
  // The same bytes as a pipe would bring them: with the format found while reading.
  options.format = poise::LogFormat::automatic;
  options.threshold_of_format = true;
  poise::fuzz::read_in_every_way(bytes, options);
  return 0;
}
