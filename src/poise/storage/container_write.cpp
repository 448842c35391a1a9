#include <algorithm>
#include <cassert>
#include <functional>
#include <memory>

#include <nlohmann/json.hpp>
#include <xxhash.h>

#include "poise/base/error.hpp"
#include "poise/base/stopwatch.hpp"
#include "poise/storage/atomic_file.hpp"
#include "poise/storage/container.hpp"
#include "poise/storage/container_header.hpp"

namespace poise {
namespace {

using namespace container_layout;
using Sink = std::function<void(std::uint64_t offset, std::span<const std::byte>)>;

std::vector<const Tensor*> file_order(std::span<const Tensor> tensors) {
  std::vector<const Tensor*> order;
  for (const Tensor& tensor : tensors) order.push_back(&tensor);
  std::stable_sort(order.begin(), order.end(),
                   [](const Tensor* a, const Tensor* b) { return info(a->type).size > info(b->type).size; });
  return order;
}

nlohmann::ordered_json describe(ElementType type, const std::vector<std::int64_t>& shape, std::uint64_t begin,
                                std::uint64_t end) {
  nlohmann::ordered_json entry;
  entry["dtype"] = info(type).name;
  entry["shape"] = shape;
  entry["data_offsets"] = {begin, end};
  return entry;
}

/// The length bytes and the JSON, padded so that the data begins aligned.
std::string header_bytes(const Metadata& metadata, const std::vector<const Tensor*>& tensors,
                         std::uint64_t checksums) {
  nlohmann::ordered_json header;
  std::uint64_t end = checksums * sizeof(std::uint64_t);
  header[checksums_name] = describe(ElementType::u64, {static_cast<std::int64_t>(checksums)}, 0, end);
  header[metadata_name] = nlohmann::ordered_json::object();
  for (const auto& [key, value] : metadata) header[metadata_name][key] = value;
  for (const Tensor* tensor : tensors) {
    assert(!header.contains(tensor->name));
    const std::uint64_t begin = end;
    end += tensor->size();
    header[tensor->name] = describe(tensor->type, tensor->shape, begin, end);
  }
  std::string text;
  try {
    text = header.dump();
  } catch (const nlohmann::json::exception&) {
    fail(ErrorKind::input, "a name or a metadata text of the file to be written is not UTF-8");
  }
  text.resize((text.size() + alignment - 1) / alignment * alignment, ' ');
  if (text.size() > max_header_bytes)
    fail(ErrorKind::input, "the metadata of the file to be written is too long: {} bytes", text.size());
  const std::uint64_t length = text.size();
  std::string bytes(reinterpret_cast<const char*>(&length), sizeof length);
  return bytes + text;
}

/// The offsets of all parts of a container, before its checksums are known.
class Layout {
 public:
  Layout(const Metadata& metadata, std::span<const Tensor> tensors) : tensors_(file_order(tensors)) {
    for (const Tensor* tensor : tensors_) data_bytes_ += tensor->size();
    checksums_ = chunks(data_bytes_) + 1;
    header_ = header_bytes(metadata, tensors_, checksums_);
  }

  [[nodiscard]] std::uint64_t size() const { return data_begin() + data_bytes_; }

  /// Passes every part of the file with its offset to the sink, from several threads at once.
  void emit(int threads, const Sink& sink) const {
    std::vector<std::uint64_t> checksums(checksums_);
    checksums[0] = XXH3_64bits(header_.data(), header_.size());
    const Tiling tiling{static_cast<std::int64_t>(data_bytes_), static_cast<std::int64_t>(chunk_bytes)};
    const bool in_order =
        std::ranges::any_of(tensors_, [](const Tensor* each) { return each->make != nullptr; });
    for_each_tile(tiling.tiles(), in_order ? 1 : threads, [&](std::int64_t tile) {
      checksums[tile + 1] = emit_chunk(tiling.first(tile), tiling.last(tile), sink);
    });
    sink(0, std::as_bytes(std::span(header_)));
    sink(header_.size(), std::as_bytes(std::span(checksums)));
  }

 private:
  [[nodiscard]] std::uint64_t data_begin() const {
    return header_.size() + checksums_ * sizeof(std::uint64_t);
  }

  /// Passes the bytes [first, last) of the tensors, end to end; returns their checksum.
  [[nodiscard]] std::uint64_t emit_chunk(std::uint64_t first, std::uint64_t last, const Sink& sink) const {
    const std::unique_ptr<XXH3_state_t, decltype(&XXH3_freeState)> state(XXH3_createState(), &XXH3_freeState);
    XXH3_64bits_reset(state.get());
    std::uint64_t begin = 0;
    for (const Tensor* tensor : tensors_) {
      const std::uint64_t end = begin + tensor->size();
      const std::uint64_t from = std::max(begin, first);
      const std::uint64_t to = std::min(end, last);
      if (from < to) {
        std::vector<std::byte> made(tensor->make ? to - from : 0);
        if (tensor->make) tensor->make(from - begin, made);
        const auto part =
            tensor->make ? std::span<const std::byte>(made) : tensor->bytes.subspan(from - begin, to - from);
        XXH3_64bits_update(state.get(), part.data(), part.size());
        sink(data_begin() + from, part);
      }
      begin = end;
    }
    return XXH3_64bits_digest(state.get());
  }

  std::vector<const Tensor*> tensors_;
  std::uint64_t data_bytes_ = 0;
  std::uint64_t checksums_ = 0;
  std::string header_;
};

}  // namespace

WriteSeconds write_container(const std::filesystem::path& path, const Metadata& metadata,
                             std::span<const Tensor> tensors, int threads, bool past_cache) {
  std::map<std::string, double> seconds;
  Stopwatch watch(seconds);
  const Layout layout(metadata, tensors);
  AtomicFile file(path, past_cache);
  if (layout.size() > chunk_bytes) file.reserve(layout.size());
  layout.emit(threads,
              [&](std::uint64_t offset, std::span<const std::byte> bytes) { file.write_at(offset, bytes); });
  watch.book("write");
  file.commit();
  watch.book("sync");
  return {.write = seconds["write"], .sync = seconds["sync"]};
}

std::vector<std::byte> container_bytes(const Metadata& metadata, std::span<const Tensor> tensors,
                                       int threads) {
  const Layout layout(metadata, tensors);
  std::vector<std::byte> result(layout.size());
  layout.emit(threads, [&](std::uint64_t offset, std::span<const std::byte> bytes) {
    std::ranges::copy(bytes, result.begin() + static_cast<std::ptrdiff_t>(offset));
  });
  return result;
}

}  // namespace poise
