#include "poise/data/log/batch_reader.hpp"

#include <utility>

#include "poise/base/error.hpp"
#include "poise/data/log/layout.hpp"

namespace poise::logs {

Batch BatchReader::next() {
  Batch batch;
  try {
    read(batch);
  } catch (...) {
    batch.error = std::current_exception();
  }
  return batch;
}

void BatchReader::read(Batch& batch) {
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
std::int64_t BatchReader::open_input() {
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
void BatchReader::note(const std::string& reading) {
  if (reading == last_reading_) return;
  last_reading_ = reading;
  if (!reading_.empty()) reading_ += fmt::format("; from {} on ", inputs_[input_].path.string());
  reading_ += reading;
}

}  // namespace poise::logs
