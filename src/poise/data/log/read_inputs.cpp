#include "poise/data/log/read_inputs.hpp"

#include <future>
#include <new>
#include <system_error>
#include <utility>

#include "poise/base/error.hpp"
#include "poise/data/log/json_lines.hpp"
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
  BatchReader(const std::vector<LogInput>& inputs, LogOptions options, const ReadSizes& sizes,
              const Observer* observer)
      : inputs_(inputs), options_(std::move(options)), sizes_(sizes), observer_(observer) {
    resolve();
  }

  /// With the format found and its usual threshold.
  [[nodiscard]] const LogOptions& options() const { return options_; }

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
      if (!reader_) open_input();
      const bool first = !std::exchange(begun_, true);
      const std::int64_t first_line = first ? begin_input() : 0;
      Chunk chunk = reader_->next();
      chunk.input = input_;
      chunk.first = first;
      chunk.first_line = first_line;
      chunk.layout = layout_;
      chunk.fields = fields_;
      if (chunk.last) {
        reader_.reset();
        ++input_;
      }
      bytes += chunk.bytes.size();
      batch.chunks.push_back(std::move(chunk));
    }
  }

  void open_input() {
    const LogInput& input = inputs_[input_];
    const std::string name = name_of(input);
    reader_.emplace(input.bytes ? open_bytes(*input.bytes, name) : open_bytes(input.path, observer_), name,
                    sizes_.chunk);
    begun_ = false;
  }

  /// Finds what the options leave open from the first input, which may be read only once.
  void resolve() {
    if (options_.format == LogFormat::automatic) {
      open_input();
      const std::string_view sample = reader_->sample();
      options_.format = format_for(detect_format(inputs_.front().path, sample, reader_->at_end()), options_);
      if (options_.format == LogFormat::sqlite)
        fail(ErrorKind::input, "{} is an SQLite database, which cannot be read from a pipe; name its file",
             name_of(inputs_.front()));
    }
    if (options_.threshold_of_format && !options_.keep_above) options_.keep_above = usual_threshold(options_);
    if (!options_.keep_above) options_.keep_low = false;
    check_dislike_below(options_);
  }

  /// Skips the header of the current input; returns the line at which its rows begin.
  std::int64_t begin_input() {
    if (options_.format == LogFormat::netflix || options_.format == LogFormat::adjacency) {
      note(describe_lines(options_));
      return 1;
    }
    return options_.format == LogFormat::json_lines ? begin_json() : begin_delimited();
  }

  std::int64_t begin_json() {
    const std::string name = name_of(inputs_[input_]);
    const std::string_view sample = reader_->sample();
    if (sample.find_first_not_of(" \t\r\n") == std::string_view::npos && reader_->at_end())
      fail_without_rows(name);
    JsonFields found = find_fields(sample, options_, name);
    check_value(found.value.has_value(), fields_ ? std::optional(fields_->value.has_value()) : std::nullopt);
    check_times(found.time.has_value());
    note(found.reading);
    fields_ = std::make_shared<const JsonFields>(std::move(found));
    return 1;
  }

  /// Throws the Error of an input without values where they are needed, or were read before.
  void check_value(bool has_value, std::optional<bool> before) const {
    const std::string name = name_of(inputs_[input_]);
    if ((options_.keep_above || options_.dislike_below) && !has_value) {
      fail(ErrorKind::usage,
           "{} has no value column to compare with a threshold; name it, or leave the threshold out", name);
    }
    if (before && *before != has_value) {
      fail(ErrorKind::input, "of {} and {}, only one has a value column; name the columns to read",
           name_of(inputs_[input_ - 1]), name);
    }
  }

  void check_times(bool has_times) const {
    if (options_.times && !has_times)
      fail(ErrorKind::usage,
           "{} has no column of times that is known, which the split needs; name it as the fourth of {} "
           "(user,item,value,time, or user,item,,time without a value)",
           name_of(inputs_[input_]), "columns"_p);
  }

  std::int64_t begin_delimited() {
    const std::string name = name_of(inputs_[input_]);
    const std::string_view sample = reader_->sample();
    FoundLayout found = find_layout(sample, reader_->at_end(), options_, name);
    if (found.blank && reader_->at_end()) fail_without_rows(name);
    check_value(found.layout.value.has_value(),
                layout_ ? std::optional(layout_->value.has_value()) : std::nullopt);
    check_times(found.layout.time.has_value());
    note(found.reading);
    reader_->skip(found.header_bytes);
    layout_ = std::make_shared<const DelimitedLayout>(std::move(found.layout));
    return 1 + found.header_lines;
  }

  /// An input that is read like the one before it is not mentioned again.
  void note(const std::string& reading) {
    if (reading == last_reading_) return;
    last_reading_ = reading;
    if (!reading_.empty()) reading_ += fmt::format("; from {} on ", name_of(inputs_[input_]));
    reading_ += reading;
  }

  const std::vector<LogInput>& inputs_;
  LogOptions options_;
  const ReadSizes sizes_;
  const Observer* const observer_;
  std::size_t input_ = 0;
  std::optional<ChunkReader> reader_;
  bool begun_ = false;  // a chunk of the current input was read
  std::shared_ptr<const DelimitedLayout> layout_;
  std::shared_ptr<const JsonFields> fields_;
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
  if (options.format == LogFormat::json_lines &&
      (!options.delimiter.empty() || options.header != Header::automatic)) {
    fail(ErrorKind::usage, "JSON lines have neither delimiter nor header; leave {} and {} out", "delimiter"_p,
         "header"_p);
  }
  if ((adjacency || options.format == LogFormat::pairs) && (options.keep_above || options.dislike_below)) {
    fail(ErrorKind::usage, "the format {} has no values to compare with a threshold; leave the threshold out",
         adjacency ? "adjacency" : "pairs");
  }
  if (adjacency && options.times)
    fail(ErrorKind::usage, "the format adjacency has no times, which the split needs; choose another split");
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

Interactions read_and_merge(const std::vector<LogInput>& inputs, const LogOptions& asked,
                            const ReadSizes& sizes, const Execution& execution) {
  const std::uint64_t size = total_size(inputs);
  Progress progress(execution.observer, "reading", size, "B");
  BatchReader reader(inputs, asked, sizes, execution.observer);
  const LogOptions& options = reader.options();
  check_options(options);
  const RowRules rules{.keep_above = options.keep_above,
                       .keep_low = options.keep_low,
                       .skip_bad_lines = options.skip_bad_lines,
                       .dislike_below = options.dislike_below,
                       .times = options.times,
                       .time_unit = options.time_unit};
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
  log.keep_above = options.keep_above;
  return log;
}

}  // namespace

std::string name_of(const LogInput& input) {
  return input.bytes ? input.path.string() : display_name(input.path);
}

void check_dislike_below(const LogOptions& options) {
  if (options.dislike_below && options.keep_above && *options.dislike_below > *options.keep_above)
    fail(ErrorKind::usage,
         "{} {} is above {} {}, so that values between them would be liked and disliked; lower it, or raise "
         "{}",
         "dislike-below"_p, *options.dislike_below, "keep-above"_p, *options.keep_above, "keep-above"_p);
}

Interactions read_inputs(const std::vector<LogInput>& inputs, const LogOptions& options,
                         const ReadSizes& sizes, const Execution& execution) {
  if (options.format != LogFormat::automatic) check_options(options);
  try {
    return read_and_merge(inputs, options, sizes, execution);
  } catch (const std::bad_alloc&) {
    fail(ErrorKind::resources,
         "not enough memory to hold the log; use a machine with more, or a smaller log");
  }
}

}  // namespace poise::logs
