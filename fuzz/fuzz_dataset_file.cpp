#include <algorithm>
#include <cstdint>
#include <list>
#include <string>
#include <vector>

#include "poise/base/error.hpp"
#include "poise/data/dataset_file.hpp"
#include "poise/data/packing.hpp"

namespace {

/// Takes the input apart from the front.
class Input {
 public:
  Input(const std::uint8_t* data, std::size_t size) : data_(data), size_(size) {}
  std::uint8_t byte() {
    if (size_ == 0) return 0;
    --size_;
    return *data_++;
  }
  std::string bytes(std::size_t count) {
    count = std::min(count, size_);
    std::string result(reinterpret_cast<const char*>(data_), count);
    data_ += count;
    size_ -= count;
    return result;
  }

 private:
  const std::uint8_t* data_;
  std::size_t size_;
};

std::string count_text(Input& input) {
  const std::uint8_t number = input.byte();
  if (number == 255) return input.bytes(12);
  if (number == 254) return "2147483647";
  return std::to_string(number);
}

}  // namespace

/// Tensors of any content, most of them well compressed, in a container with right checksums: decoding may
/// only throw poise::Error, and what it accepts must survive another round.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Input input(data, size);
  const std::uint8_t kind = input.byte();
  constexpr const char* splits[] = {"users", "given", "none", "time", "last"};
  poise::Metadata metadata = {{"format", "poise-data"},   {"version", "1"},      {"split", splits[kind % 5]},
                              {"duplicates", "0"},        {"empty_ids", "0"},    {"below_threshold", "0"},
                              {"outside_catalogue", "0"}, {"skipped_lines", "0"}};
  if (kind % 5 == 3) metadata["test_from"] = count_text(input);
  if ((kind & 32) != 0) metadata["validation_from"] = input.bytes(3);
  std::vector<std::string> names;
  const auto add_ids = [&](const std::string& name) {
    metadata[name] = count_text(input);
    names.insert(names.end(), {name + ".lengths", name + ".bytes"});
  };
  const auto add_matrix = [&](const std::string& name) {
    names.insert(names.end(), {name + ".counts", name + ".gaps"});
    if ((kind & 8) != 0) names.push_back(name + ".values");
  };
  add_ids("items");
  add_ids("train.users");
  add_matrix("train");
  const auto add_disliked = [&](const std::string& name) {
    if ((kind & 128) != 0) names.insert(names.end(), {name + ".disliked.counts", name + ".disliked.gaps"});
  };
  add_disliked("train");
  if ((kind & 64) != 0) {
    add_ids("features");
    add_matrix("features");
  }
  if ((kind & 16) != 0) {
    add_ids("test.users");
    add_matrix("test.fold_in");
    add_matrix("test.targets");
    add_disliked("test");
  }
  std::list<std::string> storage;
  std::vector<poise::Tensor> tensors;
  for (const std::string& name : names) {
    const std::uint8_t length = input.byte();
    std::string content = input.bytes(length % 128);
    if (length < 128) content = poise::compress(std::as_bytes(std::span(content)));
    const std::string& kept = storage.emplace_back(std::move(content));
    tensors.push_back({name,
                       poise::ElementType::u8,
                       {static_cast<std::int64_t>(kept.size())},
                       std::as_bytes(std::span(kept))});
  }
  const poise::Execution execution{.threads = 1};
  poise::Dataset dataset;
  try {
    const auto bytes = poise::container_bytes(metadata, tensors);
    dataset = poise::decode_dataset(poise::Container::parse(bytes, "input", 1), execution);
  } catch (const poise::Error&) {
    return 0;
  }
  const auto again = poise::encode_dataset(dataset, {.threads = 1});
  if (poise::decode_dataset(poise::Container::parse(again, "output", 1), execution) != dataset)
    __builtin_trap();
  return 0;
}
