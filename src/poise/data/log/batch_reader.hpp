#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "poise/data/log/chunks.hpp"
#include "poise/data/log/read_inputs.hpp"

namespace poise::logs {

/// Consecutive chunks of a log, perhaps of several inputs.
struct Batch {
  std::vector<Chunk> chunks;  ///< none at the end of the log
  std::exception_ptr error;   ///< the error that stopped reading after these chunks
};

/// Reads a log's inputs one after the other as batches of chunks; holds one file open at a time.
class BatchReader {
 public:
  /// Polls the observer, if there is one, while it waits for an input.
  BatchReader(const std::vector<LogInput>& inputs, const LogOptions& options, const ReadSizes& sizes,
              const Observer* observer)
      : inputs_(inputs), options_(options), sizes_(sizes), observer_(observer) {}

  Batch next();
  /// How the inputs read so far were interpreted: see Interactions::reading.
  [[nodiscard]] const std::string& reading() const { return reading_; }

 private:
  void read(Batch& batch);
  std::int64_t open_input();
  void note(const std::string& reading);

  const std::vector<LogInput>& inputs_;
  const LogOptions& options_;
  const ReadSizes sizes_;
  const Observer* const observer_;
  std::size_t input_ = 0;
  std::optional<ChunkReader> reader_;
  std::shared_ptr<const DelimitedLayout> layout_;
  std::string reading_;
  std::string last_reading_;
};

}  // namespace poise::logs
