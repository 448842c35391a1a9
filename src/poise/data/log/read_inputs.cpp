#include "poise/data/log/read_inputs.hpp"

#include <future>
#include <new>
#include <system_error>
#include <utility>

#include "poise/base/error.hpp"
#include "poise/data/log/layout.hpp"
#include "poise/data/log/merger.hpp"

namespace poise::logs {

namespace {

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

  Batch next() {
    Batch batch;
    try {
      read(batch);
    } catch (...) {
      batch.error = std::current_exception();
    }
    return batch;
  }

  /// How the inputs read so far were interpreted: see Interactions::reading.
  [[nodiscard]] const std::string& reading() const { return reading_; }

 private:
  void read(Batch& batch) {
    constexpr std::size_t most_chunks = 1024;
    std::size_t bytes = 0;
    while (bytes < sizes_.batch && batch.chunks.size() < most_chunks && input_ < inputs_.size()) {
      const bool first = !reader_;
      const std::int64_t first_line = first ? open_input() : 0;
      Chunk chunk = reader_->next();
      chunk.input = input_;
      chunk.first = first;
      chunk.first_line = first_line;
      chunk.layout = layout_;
      if (chunk.last) {
        reader_.reset();
        ++input_;
      }
      bytes += chunk.bytes.size();
      batch.chunks.push_back(std::move(chunk));
    }
  }

  /// Opens the current input and skips its header; returns the line at which its rows begin.
  std::int64_t open_input() {
    const LogInput& input = inputs_[input_];
    const std::string name = input.path.string();
    reader_.emplace(input.bytes ? open_bytes(*input.bytes, name) : open_bytes(input.path, observer_), name,
                    sizes_.chunk);
    if (options_.format == LogFormat::netflix || options_.format == LogFormat::adjacency) {
      note(describe_lines(options_));
      return 1;
    }

    const std::string_view sample = reader_->sample();
    FoundLayout found = find_layout(sample, reader_->at_end(), options_, name);
    if (found.blank && reader_->at_end()) fail_without_rows(name);
    if (options_.keep_above && !found.layout.value) {
      fail(ErrorKind::usage,
           "{} has no value column to compare with a threshold; name it, or leave the threshold out", name);
    }
    if (layout_ && layout_->value.has_value() != found.layout.value.has_value()) {
      fail(ErrorKind::input, "of {} and {}, only one has a value column; name the columns to read",
           inputs_[input_ - 1].path.string(), name);
    }
    note(found.reading);
    reader_->skip(found.header_bytes);
    layout_ = std::make_shared<const DelimitedLayout>(std::move(found.layout));
    return 1 + found.header_lines;
  }

  /// An input that is read like the one before it is not mentioned again.
  void note(const std::string& reading) {
    if (reading == last_reading_) return;
    last_reading_ = reading;
    if (!reading_.empty()) reading_ += fmt::format("; from {} on ", inputs_[input_].path.string());
    reading_ += reading;
  }

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

std::uint64_t total_size(const std::vector<LogInput>& inputs) {
  std::uint64_t total = 0;
  for (const LogInput& input : inputs) {
    std::error_code error;
    const std::uint64_t size =
        input.bytes ? input.bytes->size() : std::filesystem::file_size(input.path, error);
    if (error) return 0;
    total += size;
  }
  return total;
}

void check_options(const LogOptions& options) {
  const bool netflix = options.format == LogFormat::netflix;
  const bool adjacency = options.format == LogFormat::adjacency;
  if ((netflix || adjacency) && !(options.columns.empty() && options.delimiter.empty())) {
    fail(ErrorKind::usage,
         "the format {} has no columns to choose and no delimiter; choose csv for delimited text",
         netflix ? "netflix" : "adjacency");
  }
  if ((adjacency || options.format == LogFormat::pairs) && options.keep_above) {
    fail(ErrorKind::usage, "the format {} has no values to compare with a threshold; leave the threshold out",
         adjacency ? "adjacency" : "pairs");
  }
  check_layout_options(options);
}

template <class Work>
std::future<Batch> start(std::launch policy, const Work& work) {
  try {
    return std::async(policy, work);
  } catch (const std::system_error& error) {
    fail(ErrorKind::resources, "cannot start a thread: {}; ask for fewer threads", error.what());
  }
}

Interactions read_and_merge(const std::vector<LogInput>& inputs, const LogOptions& options,
                            const ReadSizes& sizes, const Execution& execution) {
  const RowRules rules{options.keep_above, options.keep_low, options.skip_bad_lines};
  const std::uint64_t size = total_size(inputs);
  Progress progress(execution.observer, "reading", size, "B");
  BatchReader reader(inputs, options, sizes, execution.observer);
  Merger merger(inputs, options.format, rules, size);
  const auto policy = execution.threads > 1 ? std::launch::async : std::launch::deferred;

  Batch batch = reader.next();
  while (!batch.chunks.empty() || batch.error) {
    std::future<Batch> next = start(policy, [&] { return reader.next(); });
    std::vector<std::optional<ParsedChunk>> parsed(batch.chunks.size());
    for_each_tile(static_cast<std::int64_t>(parsed.size()), execution.threads,
                  [&](std::int64_t k) { parsed[k] = parse_chunk(batch.chunks[k], options.format, rules); });
    for (std::size_t k = 0; k < parsed.size(); ++k) {
      progress.advance(batch.chunks[k].stored_bytes);
      merger.add(std::move(batch.chunks[k]), std::move(*parsed[k]));
      parsed[k].reset();
    }
    if (batch.error) std::rethrow_exception(batch.error);
    batch = next.get();
  }
  Interactions log = merger.finish();
  log.reading = reader.reading();
  return log;
}

}  // namespace

Interactions read_inputs(const std::vector<LogInput>& inputs, const LogOptions& options,
                         const ReadSizes& sizes, const Execution& execution) {
  check_options(options);
  try {
    return read_and_merge(inputs, options, sizes, execution);
  } catch (const std::bad_alloc&) {
    fail(ErrorKind::resources,
         "not enough memory to hold the log; use a machine with more, or a smaller log");
  }
}

}  // namespace poise::logs
