#include <algorithm>
#include <charconv>
#include <limits>
#include <list>
#include <new>
#include <stdexcept>
#include <utility>

#include "poise/base/error.hpp"
#include "poise/data/count_names.hpp"
#include "poise/data/dataset_file.hpp"
#include "poise/data/numbers.hpp"
#include "poise/data/packed_matrix.hpp"

namespace poise {
namespace {

constexpr std::string_view format_name = "poise-data";
constexpr std::string_view format_version = "1";

/// Collects tensors and keeps their bytes.
class Encoder {
 public:
  explicit Encoder(const Execution& execution) : execution_(execution) {}

  void set(const std::string& key, std::string_view value) {
    metadata_.insert_or_assign(key, std::string(value));
  }
  void set(const std::string& key, std::int64_t value) { set(key, fmt::format("{}", value)); }

  void set_cuts(const TimeCuts& cuts) {
    set("test_from", cuts.test);
    if (cuts.validation) set("validation_from", *cuts.validation);
    if (cuts.end) set("test_to", *cuts.end);
  }

  void add_ids(const std::string& name, const Ids& ids) {
    std::vector<std::int64_t> lengths(ids.size());
    for (std::int64_t k = 0; k < ids.size(); ++k) {
      lengths[k] = ids.offsets()[k + 1] - ids.offsets()[k];
      if (lengths[k] > max_count) fail(ErrorKind::input, "an id is too long: {} bytes", lengths[k]);
    }
    set(name, ids.size());
    add(name + ".lengths", pack_numbers(lengths));
    add(name + ".bytes", compress(std::as_bytes(std::span(ids.bytes()))));
  }
  void add_matrix(const std::string& name, PackedMatrix packed) {
    add(name + ".counts", std::move(packed.counts));
    add(name + ".gaps", std::move(packed.gaps));
    if (!packed.values.empty()) add(name + ".values", std::move(packed.values));
  }
  void add_rows(const std::string& name, const Csr& matrix) {
    add_matrix(name, pack_rows(matrix.view(), execution_));
  }
  /// Nothing where there are none, as in data from before there were dislikes.
  void add_disliked(const std::string& name, const Csr& disliked) {
    if (disliked.rows > 0) add_rows(name + ".disliked", disliked);
  }
  void add_held_out(const std::string& name, const HeldOut& held_out, SplitKind split) {
    add_ids(name + ".users", held_out.users);
    if (split != SplitKind::given) add_rows(name + ".fold_in", held_out.fold_in);
    add_rows(name + ".targets", held_out.targets);
    if (split != SplitKind::given) add_disliked(name, held_out.disliked);
  }
  void add_features(const ItemFeatures& features) {
    if (features.rows.rows == 0) return;
    add_ids("features", features.names);
    add_rows("features", features.rows);
  }
  [[nodiscard]] std::vector<std::byte> bytes() const {
    return container_bytes(metadata_, tensors_, execution_.threads);
  }

 private:
  void add(std::string name, std::string bytes) {
    const std::string& kept = storage_.emplace_back(std::move(bytes));
    tensors_.push_back({.name = std::move(name),
                        .type = ElementType::u8,
                        .shape = {static_cast<std::int64_t>(kept.size())},
                        .bytes = std::as_bytes(std::span(kept))});
  }

  const Execution& execution_;
  Metadata metadata_;
  std::vector<Tensor> tensors_;
  std::list<std::string> storage_;  // a list, so that the tensors' spans stay valid
};

class Decoder {
 public:
  Decoder(const Container& container, const Execution& execution)
      : container_(container), execution_(execution) {}

  [[nodiscard]] std::int64_t number(const std::string& key, std::int64_t limit) const {
    const std::optional<std::int64_t> value = parse_whole_number(container_.metadata(key), limit);
    if (!value) fail_damaged(container_.name(), fmt::format("its metadata {} is not a count", key));
    return *value;
  }
  [[nodiscard]] SplitKind split() const {
    for (const SplitKind kind : {SplitKind::users, SplitKind::given, SplitKind::none, SplitKind::time,
                                 SplitKind::last, SplitKind::cold_items})
      if (container_.metadata("split") == to_string(kind)) return kind;
    fail_damaged(container_.name(), "it has an unknown split");
  }
  [[nodiscard]] std::optional<TimeCuts> cuts() const {
    const std::optional<std::int64_t> test = time("test_from");
    if (!test) return {};
    return TimeCuts{.validation = time("validation_from"), .test = *test, .end = time("test_to")};
  }
  [[nodiscard]] Ids ids(const std::string& name) const {
    const Packed packed_lengths = packed(name + ".lengths");
    const auto lengths = unpack_numbers(packed_lengths, number(name, max_count), max_count);
    std::vector<std::int64_t> offsets = {0};
    offsets.reserve(lengths.size() + 1);
    for (const std::int64_t length : lengths) offsets.push_back(offsets.back() + length);
    const Packed packed_bytes = packed(name + ".bytes");
    const Frame frame = split_frames(packed_bytes, 1).front();
    if (frame.content != static_cast<std::uint64_t>(offsets.back()))
      fail_damaged(packed_bytes.name, "it does not fit the lengths");
    std::string bytes(frame.content, '\0');
    decompress(frame, std::as_writable_bytes(std::span(bytes)), packed_bytes.name);
    return {std::move(bytes), std::move(offsets)};
  }
  [[nodiscard]] PackedMatrixView matrix(const std::string& name) const {
    PackedMatrixView view{.counts = packed(name + ".counts"), .gaps = packed(name + ".gaps"), .values = {}};
    if (container_.has(name + ".values")) view.values = packed(name + ".values");
    return view;
  }
  [[nodiscard]] Csr rows(const std::string& name, std::int64_t rows, std::int64_t cols) const {
    return unpack_rows(matrix(name), rows, cols, execution_);
  }
  [[nodiscard]] Csr disliked(const std::string& name, std::int64_t users, std::int64_t items) const {
    const std::string full = name + ".disliked";
    return container_.has(full + ".counts") ? rows(full, users, items) : Csr();
  }
  [[nodiscard]] ItemFeatures features(std::int64_t items) const {
    if (!container_.metadata().contains("features")) return {};
    ItemFeatures features{.names = ids("features")};
    features.rows = rows("features", features.names.size(), items);
    return features;
  }
  [[nodiscard]] std::optional<HeldOut> held_out(const std::string& name, const Dataset& dataset) const {
    if (!container_.metadata().contains(name + ".users")) return {};
    HeldOut part;
    part.users = ids(name + ".users");
    const std::int64_t users = part.users.size();
    const std::int64_t items = dataset.items.size();
    if (dataset.split == SplitKind::given) {
      if (users < dataset.train.rows)
        fail_damaged(container_.name(), "a part has fewer users than the training part");
      part.fold_in = borrowed_rows(dataset.train, users);
      if (dataset.disliked.rows > 0) part.disliked = borrowed_rows(dataset.disliked, users);
    } else {
      part.fold_in = rows(name + ".fold_in", users, items);
      part.disliked = disliked(name, users, items);
    }
    part.targets = rows(name + ".targets", users, items);
    return part;
  }
  /// Refuses tensors that were not read: their content would be lost silently.
  void check_all_used() const {
    if (used_ != container_.tensors().size())
      fail_damaged(container_.name(), "it has tensors that do not belong");
  }

 private:
  [[nodiscard]] std::optional<std::int64_t> time(const std::string& key) const {
    if (!container_.metadata().contains(key)) return {};
    const std::string& text = container_.metadata(key);
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size())
      fail_damaged(container_.name(), fmt::format("its metadata {} is not a time", key));
    return value;
  }
  [[nodiscard]] Packed packed(const std::string& name) const {
    ++used_;
    return {container_.tensor(name, ElementType::u8).bytes,
            fmt::format("{}, tensor {},", container_.name(), name)};
  }

  const Container& container_;
  const Execution& execution_;
  mutable std::size_t used_ = 0;
};

void check_format(const Container& container) {
  if (container.metadata("format") != format_name)
    fail(ErrorKind::input, "{} holds no prepared data but {}", container.name(),
         container.metadata("format"));
  if (container.metadata("version") != format_version)
    fail(ErrorKind::input, "{} has version {} of the data format, this program reads version {}",
         container.name(), container.metadata("version"), format_version);
}

/// Everything but the matrices and their users.
Dataset decode_frame(const Container& container, const Decoder& decoder) {
  check_format(container);
  Dataset dataset;
  dataset.split = decoder.split();
  for (const auto& [key, member] : read_counts)
    dataset.counts.*member = decoder.number(key, std::numeric_limits<std::int64_t>::max());
  // Not there where they are 0.
  const auto read_some = [&, &counts = dataset.counts](const auto& names) {
    for (const auto& [key, member] : names) {
      if (container.metadata().contains(key))
        counts.*member = decoder.number(key, std::numeric_limits<std::int64_t>::max());
    }
  };
  read_some(filter_counts);
  read_some(dislike_counts);
  read_some(time_counts);
  read_some(feature_counts);
  dataset.cuts = decoder.cuts();
  dataset.items = decoder.ids("items");
  return dataset;
}

void decode_train(const Decoder& decoder, const Execution& execution, Dataset& dataset) {
  dataset.users = decoder.ids("train.users");
  dataset.train =
      unpack_columns(decoder.matrix("train"), dataset.users.size(), dataset.items.size(), execution);
  dataset.disliked = decoder.disliked("train", dataset.users.size(), dataset.items.size());
}

Dataset decode(const Container& container, const Execution& execution) {
  const Decoder decoder(container, execution);
  Dataset dataset = decode_frame(container, decoder);
  decode_train(decoder, execution, dataset);
  dataset.features = decoder.features(dataset.items.size());
  dataset.validation = decoder.held_out("validation", dataset);
  dataset.test = decoder.held_out("test", dataset);
  decoder.check_all_used();
  validate(dataset, execution.threads);
  return dataset;
}

EvaluationData decode_part(const Container& container, const std::string& part, const Execution& execution) {
  const Decoder decoder(container, execution);
  EvaluationData data{
      .dataset = decode_frame(container, decoder), .training_counts = {}, .checksum = container.checksum()};
  Dataset& dataset = data.dataset;
  const std::int64_t items = dataset.items.size();
  dataset.train.cols = items;
  if (dataset.split == SplitKind::given) decode_train(decoder, execution, dataset);
  (part == "test" ? dataset.test : dataset.validation) = decoder.held_out(part, dataset);
  validate(dataset, execution.threads);
  data.training_counts =
      unpack_numbers(decoder.matrix("train").counts, items, decoder.number("train.users", max_count));
  return data;
}

/// Turns std::bad_alloc into an Error that says so.
template <class Decode>
auto within_memory(const Container& container, const Decode& decode_it) {
  try {
    return decode_it();
  } catch (const std::bad_alloc&) {
    fail(ErrorKind::resources, "not enough memory to load {}", container.name());
  } catch (const std::length_error&) {
    fail(ErrorKind::resources, "not enough memory to load {}", container.name());
  }
}

}  // namespace

std::vector<std::byte> encode_dataset(const Dataset& dataset, const Execution& execution) {
  validate(dataset);
  Encoder encoder(execution);
  encoder.set("format", format_name);
  encoder.set("version", format_version);
  encoder.set("split", to_string(dataset.split));
  for (const auto& [key, member] : read_counts) encoder.set(key, dataset.counts.*member);
  const auto set_some = [&](const auto& names) {
    for (const auto& [key, member] : names) {
      if (dataset.counts.*member != 0) encoder.set(key, dataset.counts.*member);
    }
  };
  set_some(filter_counts);
  set_some(dislike_counts);
  set_some(time_counts);
  set_some(feature_counts);
  if (dataset.cuts) encoder.set_cuts(*dataset.cuts);
  encoder.add_ids("items", dataset.items);
  encoder.add_ids("train.users", dataset.users);
  encoder.add_matrix("train", pack_columns(dataset.train.view(), execution));
  encoder.add_disliked("train", dataset.disliked);
  encoder.add_features(dataset.features);
  if (dataset.validation) encoder.add_held_out("validation", *dataset.validation, dataset.split);
  if (dataset.test) encoder.add_held_out("test", *dataset.test, dataset.split);
  return encoder.bytes();
}

Dataset decode_dataset(const Container& container, const Execution& execution) {
  return within_memory(container, [&] { return decode(container, execution); });
}

EvaluationData decode_evaluation_data(const Container& container, const std::string& part,
                                      const Execution& execution) {
  return within_memory(container, [&] { return decode_part(container, part, execution); });
}

DatasetSizes decode_sizes(const Container& container) {
  check_format(container);
  DatasetSizes sizes{.items = Decoder(container, {}).number("items", max_count), .history_bytes = {}};
  for (const std::string part : {"validation", "test"}) {
    const std::string gaps = part + ".fold_in.gaps";
    if (container.has(gaps)) sizes.history_bytes[part] = container.tensor(gaps, ElementType::u8).bytes.size();
  }
  return sizes;
}

}  // namespace poise
