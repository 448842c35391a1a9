#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "poise/base/error.hpp"
#include "poise/io/model_file.hpp"

namespace {

/// Takes the input apart from the front: fields end at a 0xFF byte.
class Input {
 public:
  Input(const std::uint8_t* data, std::size_t size) : rest_(reinterpret_cast<const char*>(data), size) {}
  std::string_view field() {
    const std::size_t end = std::min(rest_.find('\xff'), rest_.size());
    const std::string_view result = rest_.substr(0, end);
    rest_.remove_prefix(std::min(end + 1, rest_.size()));
    return result;
  }

 private:
  std::string_view rest_;
};

poise::Tensor tensor(const char* name, poise::ElementType type, std::string_view bytes,
                     std::int64_t element) {
  const std::int64_t count = static_cast<std::int64_t>(bytes.size()) / element;
  return {name, type, {count}, std::as_bytes(std::span(bytes.data(), count * element))};
}

}  // namespace

/// Metadata and tensors of any content in a container with right checksums: only poise::Error may come out.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Input input(data, size);
  poise::Metadata metadata = {{"format", "poise-model"}, {"version", "1"}, {"data_checksum", "0"}};
  const std::string_view model = input.field();
  metadata["model"] = model.empty() ? "popularity" : std::string(model);
  const std::string_view options = input.field();
  metadata["options"] = options.empty() ? "{}" : std::string(options);
  const std::string_view report = input.field();
  metadata["report"] = report.empty() ? "{}" : std::string(report);
  const std::string_view counts = input.field();
  const std::string_view offsets = input.field();
  const std::string_view ids = input.field();
  try {
    const std::vector<poise::Tensor> tensors = {
        tensor("counts", poise::ElementType::f32, counts, 4),
        tensor("item_id_offsets", poise::ElementType::i64, offsets, 8),
        tensor("item_ids", poise::ElementType::u8, ids, 1)};
    const std::vector<std::byte> bytes = poise::container_bytes(metadata, tensors);
    const poise::LoadedModel loaded = poise::decode_model(poise::Container::parse(bytes, "input", 1));
    for (std::int64_t i = 0; i < loaded.info.items.size(); ++i) {
      if (loaded.info.items[i].size() > ids.size()) __builtin_trap();
    }
  } catch (const poise::Error&) {
  }
  return 0;
}
