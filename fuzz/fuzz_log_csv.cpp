#include <array>

#include "poise/data/log_format.hpp"
#include "poise/data/log_reader.hpp"

#include "log_fuzz.hpp"

/// Delimited text: the first byte chooses among the options, the rest is the file.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  using poise::LogFormat;
  constexpr std::array<LogFormat, 4> formats = {LogFormat::csv, LogFormat::movielens, LogFormat::triplets,
                                                LogFormat::pairs};
  const std::uint8_t choice = data[0];
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  poise::LogOptions options;
  options.format = formats[choice & 3U];
  if ((choice & 4U) != 0) options.delimiter = "::";
  if ((choice & 8U) != 0) options.header = poise::Header::no;
  if ((choice & 16U) != 0) options.keep_above = 1;
  if ((choice & 32U) != 0) options.columns = {"3", "1"};
  if ((choice & 64U) != 0) options.columns = {"user", "item"};
  poise::fuzz::read_in_every_way(bytes, options);
  // The same file as the program would take it: with the format detected, which is to throw nothing.
  options = {};
  options.format = poise::logs::detect_format("ratings.dat", bytes, true);
  poise::logs::detect_format("ratings.dat", bytes, false);
  if ((choice & 128U) != 0) options.keep_above = poise::usual_threshold(options);
  poise::fuzz::read_in_every_way(bytes, options);
  return 0;
}
