#include "poise/data/log/read_inputs.hpp"

#include <future>
#include <new>
#include <system_error>
#include <utility>

#include "poise/base/error.hpp"
#include "poise/data/log/batch_reader.hpp"
#include "poise/data/log/layout.hpp"
#include "poise/data/log/merger.hpp"

namespace poise::logs {

namespace {

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
