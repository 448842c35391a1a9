#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "poise/data/log/byte_source.hpp"

namespace poise::logs {

struct DelimitedLayout;
struct JsonFields;

/// A piece of one input that ends at a line end (or at the input's end).
struct Chunk {
  std::string bytes;
  std::size_t input = 0;           ///< which of the log's inputs
  bool first = false;              ///< the input's first chunk
  bool last = false;               ///< the input's last chunk; nothing follows
  std::int64_t first_line = 1;     ///< for a first chunk, the line at which it begins (counted from 1)
  std::uint64_t stored_bytes = 0;  ///< how many bytes of the input it took, before decompression
  std::shared_ptr<const DelimitedLayout> layout;  ///< for delimited formats
  std::shared_ptr<const JsonFields> fields;       ///< for JSON lines
};

/// Throws the Error{input} of an input that holds no row.
[[noreturn]] void fail_without_rows(const std::string& name);

/// Cuts one input into chunks of about `chunk_bytes`, each ending at a line end; a longer line makes a
/// longer chunk, a line beyond `longest_line` is an Error{input}. Skips a UTF-8 byte order mark and refuses
/// UTF-16 and lines that end with CR alone.
class ChunkReader {
 public:
  static constexpr std::size_t longest_line = 256U << 20U;
  static constexpr std::size_t sample_bytes = 256U << 10U;

  ChunkReader(std::unique_ptr<ByteSource> source, std::string name, std::size_t chunk_bytes);

  /// The first bytes that have not been cut yet: at least `sample_bytes`, or all that remain.
  std::string_view sample();
  /// Whether the sample holds all remaining bytes.
  [[nodiscard]] bool at_end() const { return source_ended_; }
  /// Skips bytes of the sample, e.g. a header.
  void skip(std::size_t count) { begin_ += count; }
  /// The next chunk (`bytes`, `last` and `stored_bytes` are set); not to be called after the last one.
  Chunk next();

 private:
  void fill(std::size_t wanted);

  std::unique_ptr<ByteSource> source_;
  std::string name_;
  std::size_t chunk_bytes_;
  std::string buffer_;
  std::size_t begin_ = 0;  // buffer_[begin_, end_) has not been cut yet
  std::size_t end_ = 0;
  bool source_ended_ = false;
  std::uint64_t reported_ = 0;
};

}  // namespace poise::logs
