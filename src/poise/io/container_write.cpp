#include <algorithm>
#include <cassert>
#include <functional>
#include <memory>

#include <nlohmann/json.hpp>
#include <xxhash.h>

#include "poise/base/error.hpp"
#include "poise/io/atomic_file.hpp"
#include "poise/io/container.hpp"
#include "poise/io/container_layout.hpp"

namespace poise {
namespace {

using namespace container_layout;
using Sink = std::function<void(std::span<const std::byte>)>;

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
    end += tensor->bytes.size();
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

/// One checksum per chunk of the tensors' concatenated bytes.
std::vector<std::uint64_t> chunk_checksums(const std::vector<const Tensor*>& tensors) {
  const std::unique_ptr<XXH3_state_t, decltype(&XXH3_freeState)> state(XXH3_createState(), &XXH3_freeState);
  std::vector<std::uint64_t> checksums;
  std::uint64_t filled = 0;
  XXH3_64bits_reset(state.get());
  const auto close_chunk = [&] {
    checksums.push_back(XXH3_64bits_digest(state.get()));
    XXH3_64bits_reset(state.get());
    filled = 0;
  };
  for (const Tensor* tensor : tensors) {
    for (auto rest = tensor->bytes; !rest.empty();) {
      const std::uint64_t take = std::min<std::uint64_t>(rest.size(), chunk_bytes - filled);
      XXH3_64bits_update(state.get(), rest.data(), take);
      rest = rest.subspan(take);
      filled += take;
      if (filled == chunk_bytes) close_chunk();
    }
  }
  if (filled > 0) close_chunk();
  return checksums;
}

void emit(const Metadata& metadata, std::span<const Tensor> tensors, const Sink& sink) {
  const std::vector<const Tensor*> ordered = file_order(tensors);
  std::vector<std::uint64_t> checksums = chunk_checksums(ordered);
  const std::string header = header_bytes(metadata, ordered, checksums.size() + 1);
  checksums.insert(checksums.begin(), XXH3_64bits(header.data(), header.size()));
  sink(std::as_bytes(std::span(header)));
  sink(std::as_bytes(std::span(checksums)));
  for (const Tensor* tensor : ordered) sink(tensor->bytes);
}

}  // namespace

void write_container(const std::filesystem::path& path, const Metadata& metadata,
                     std::span<const Tensor> tensors) {
  AtomicFile file(path);
  emit(metadata, tensors, [&](std::span<const std::byte> bytes) { file.write(bytes); });
  file.commit();
}

std::vector<std::byte> container_bytes(const Metadata& metadata, std::span<const Tensor> tensors) {
  std::vector<std::byte> result;
  emit(metadata, tensors,
       [&](std::span<const std::byte> bytes) { result.insert(result.end(), bytes.begin(), bytes.end()); });
  return result;
}

}  // namespace poise
