#include "poise/data/log/chunks.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "poise/base/byte_order_mark.hpp"
#include "poise/base/error.hpp"

namespace poise::logs {

void fail_without_rows(const std::string& name) {
  fail(ErrorKind::input, "{} has no data row; check that it is the right file", name);
}

ChunkReader::ChunkReader(std::unique_ptr<ByteSource> source, std::string name, std::size_t chunk_bytes)
    : source_(std::move(source)), name_(std::move(name)), chunk_bytes_(chunk_bytes) {
  const std::string_view head = sample();
  if (head.starts_with("\xff\xfe") || head.starts_with("\xfe\xff")) {
    fail(ErrorKind::input, "{} is UTF-16 text; convert it to UTF-8", name_);
  }
  const std::size_t return_at = head.find('\r');
  const bool returns = return_at != std::string_view::npos && return_at + 1 < head.size();
  if (returns && head.find('\n') == std::string_view::npos) {
    fail(ErrorKind::input, "{} ends its lines with CR alone; convert it, e.g. with tr '\\r' '\\n'", name_);
  }
  if (head.starts_with(byte_order_mark)) skip(byte_order_mark.size());
}

std::string_view ChunkReader::sample() {
  fill(sample_bytes);
  return std::string_view(buffer_).substr(begin_, end_ - begin_);
}

/// Reads until `wanted` bytes are in the buffer or the source ends.
void ChunkReader::fill(std::size_t wanted) {
  if (end_ - begin_ >= wanted || source_ended_) return;
  std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
  end_ -= std::exchange(begin_, 0);
  while (end_ < wanted && !source_ended_) {
    // Small inputs should not clear a buffer of the full size.
    if (end_ == buffer_.size()) buffer_.resize(std::min(wanted, std::max<std::size_t>(32768, 4 * end_)));
    const std::size_t count = source_->read(buffer_.data() + end_, std::min(buffer_.size(), wanted) - end_);
    source_ended_ = count == 0;
    end_ += count;
  }
}

Chunk ChunkReader::next() {
  fill(chunk_bytes_);
  std::size_t cut = std::min(chunk_bytes_, end_ - begin_);
  if (cut < end_ - begin_ || !source_ended_) {
    const std::size_t line_end = std::string_view(buffer_).substr(begin_, cut).rfind('\n');
    if (line_end != std::string_view::npos) {
      cut = line_end + 1;
    } else {
      while (true) {
        const std::string_view waiting = std::string_view(buffer_).substr(begin_, end_ - begin_);
        const std::size_t found = waiting.find('\n', cut);
        cut = found == std::string_view::npos ? waiting.size() : found + 1;
        if (cut > longest_line) {
          fail(ErrorKind::input, "{} has a line of more than 256 MiB; is it a text file?", name_);
        }
        if (found != std::string_view::npos || source_ended_) break;
        fill(std::min(2 * cut, longest_line + 1));
      }
    }
  }
  Chunk chunk;
  chunk.bytes.assign(buffer_, begin_, cut);
  begin_ += cut;
  chunk.last = source_ended_ && begin_ == end_;
  chunk.stored_bytes = source_->consumed() - std::exchange(reported_, source_->consumed());
  return chunk;
}

}  // namespace poise::logs
