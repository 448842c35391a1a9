#include "support/log_data.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <zlib.h>
#include <zstd.h>

namespace poise::testing {

Interactions read_text(std::string_view text, LogOptions options, std::size_t chunk, int threads) {
  if (options.format == LogFormat::automatic) options.format = LogFormat::csv;
  Execution execution;
  execution.threads = threads;
  return logs::read_inputs({{"log", text}}, options, {.chunk = chunk, .batch = 7 * chunk}, execution);
}

std::vector<std::string> rows_of(const Interactions& log) {
  std::vector<std::string> rows;
  for (std::int64_t k = 0; k < log.rows(); ++k) {
    rows.push_back(fmt::format("{}|{}", log.users[log.user[k]], log.items[log.item[k]]));
    if (!log.value.empty()) rows.back() += fmt::format("|{}", log.value[k]);
  }
  return rows;
}

Error error_of(std::string_view text, const LogOptions& options, std::size_t chunk) {
  try {
    read_text(text, options, chunk);
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "no error for: " << text.substr(0, 200);
  return {ErrorKind::numerical, "none"};
}

std::string everything(const Interactions& log) {
  std::string text = fmt::format("{} {} {}\n", log.empty_ids, log.below_threshold, log.skipped_lines);
  for (std::int64_t k = 0; k < log.users.size(); ++k) text += fmt::format("u {}\n", log.users[k]);
  for (std::int64_t k = 0; k < log.items.size(); ++k) text += fmt::format("i {}\n", log.items[k]);
  for (std::int64_t k = 0; k < log.rows(); ++k) {
    text += fmt::format("{} {} {}\n", log.user[k], log.item[k], log.value.empty() ? 0 : log.value[k]);
  }
  return text;
}

std::string gzip(std::string_view bytes) {
  z_stream stream{};
  deflateInit2(&stream, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
  std::string result(deflateBound(&stream, bytes.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(result.data());
  stream.avail_out = static_cast<uInt>(result.size());
  deflate(&stream, Z_FINISH);
  result.resize(stream.total_out);
  deflateEnd(&stream);
  return result;
}

std::string zstd(std::string_view bytes) {
  std::string result(ZSTD_compressBound(bytes.size()), '\0');
  result.resize(ZSTD_compress(result.data(), result.size(), bytes.data(), bytes.size(), 3));
  return result;
}

}  // namespace poise::testing
