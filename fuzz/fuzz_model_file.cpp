#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "poise/base/error.hpp"
#include "poise/train/model_file.hpp"

namespace {

/// Takes the input apart from the front: fields end at a 0xFF byte, or after a counted number of bytes.
class Input {
 public:
  Input(const std::uint8_t* data, std::size_t size) : rest_(reinterpret_cast<const char*>(data), size) {}
  std::string_view field() {
    const std::size_t end = std::min(rest_.find('\xff'), rest_.size());
    const std::string_view result = rest_.substr(0, end);
    rest_.remove_prefix(std::min(end + 1, rest_.size()));
    return result;
  }
  /// Numbers of any bytes: a byte says how many there are.
  template <class T>
  std::vector<T> numbers() {
    if (rest_.empty()) return {};
    const std::size_t count =
        std::min<std::size_t>(static_cast<std::uint8_t>(rest_[0]), (rest_.size() - 1) / sizeof(T));
    std::vector<T> result(count);
    rest_.copy(reinterpret_cast<char*>(result.data()), count * sizeof(T), 1);
    rest_.remove_prefix(1 + count * sizeof(T));
    return result;
  }
  /// Small numbers: a byte says how many there are, then a byte for each, which may be negative.
  template <class T>
  std::vector<T> small_numbers() {
    const auto bytes = numbers<std::int8_t>();
    return {bytes.begin(), bytes.end()};
  }

 private:
  std::string_view rest_;
};

template <class T>
poise::Tensor tensor(const char* name, poise::ElementType type, const std::vector<T>& elements,
                     std::int64_t rows = 0) {
  const auto count = static_cast<std::int64_t>(elements.size());
  std::vector<std::int64_t> shape = {count};
  if (rows > 0 && count % rows == 0) shape = {rows, count / rows};
  return {name, type, shape, std::as_bytes(std::span(elements))};
}

/// Scores a history of all items and explains it: nothing that was read may lead outside the memory.
void use(const poise::Scorer& scorer) {
  poise::Csr history{.rows = 1, .cols = scorer.items(), .offsets = {0}};
  for (std::int64_t i = 0; i < scorer.items(); ++i) history.indices.push_back(static_cast<std::int32_t>(i));
  history.offsets.push_back(scorer.items());
  poise::Matrix<float> scores(1, scorer.items());
  scorer.score(history.view(), scores.view());
  if (scorer.items() > 0) (void)scorer.contributions(history.indices, {}, {}, 0);
}

}  // namespace

/// Metadata and tensors of any content in a container with right checksums: only poise::Error may come out.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using poise::ElementType;
  Input input(data, size);
  poise::Metadata metadata = {{"format", "poise-model"}, {"version", "1"}, {"data_checksum", "0"}};
  const std::string_view model = input.field();
  metadata["model"] = model.empty() ? "full-rank" : model == "p" ? "popularity" : std::string(model);
  const std::string_view options = input.field();
  metadata["options"] = options.empty() ? "{}" : std::string(options);
  const std::string_view report = input.field();
  metadata["report"] = report.empty() ? "{}" : std::string(report);
  const auto rows = input.small_numbers<std::int64_t>();
  const auto values = input.numbers<float>();
  const auto offsets = input.small_numbers<std::int64_t>();
  const auto indices = input.small_numbers<std::int32_t>();
  const auto id_offsets = input.small_numbers<std::int64_t>();
  const auto ids = input.numbers<std::uint8_t>();
  const std::int64_t factor_rows = rows.empty() ? 0 : rows[0];
  std::vector<poise::Tensor> tensors = {tensor("counts", ElementType::f32, values),
                                        tensor("U", ElementType::f32, values, factor_rows),
                                        tensor("V", ElementType::f32, values, factor_rows),
                                        tensor("B", ElementType::f32, values, rows.empty() ? 0 : rows[0]),
                                        tensor("B.indices", ElementType::i32, indices),
                                        tensor("B.values", ElementType::f32, values),
                                        tensor("item_id_offsets", ElementType::i64, id_offsets),
                                        tensor("item_ids", ElementType::u8, ids)};
  if (!offsets.empty()) tensors.push_back(tensor("B.offsets", ElementType::i64, offsets));
  try {
    const std::vector<std::byte> bytes = poise::container_bytes(metadata, tensors);
    const poise::LoadedModel loaded = poise::decode_model(poise::Container::parse(bytes, "input", 1), 1);
    for (std::int64_t i = 0; i < loaded.info.items.size(); ++i) {
      if (loaded.info.items[i].size() > ids.size()) __builtin_trap();
    }
    use(*loaded.scorer);
  } catch (const poise::Error&) {
  }
  return 0;
}
