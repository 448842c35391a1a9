#include "poise/data/dataset_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/expect_error.hpp"
#include "support/file_size_limit.hpp"
#include "support/random_dataset.hpp"
#include "support/stop_at_once.hpp"
#include "support/test_data.hpp"

namespace poise {
namespace {

using testing::error_message;
using ::testing::HasSubstr;
using testing::random_dataset;
using testing::TemporaryFolder;

void expect_round_trip(const Dataset& dataset) {
  const TemporaryFolder folder;
  write_dataset(folder / "data", dataset, {});
  const LoadedDataset loaded = read_dataset(folder / "data", {.threads = 2});
  EXPECT_EQ(loaded.dataset, dataset);
  EXPECT_EQ(loaded.checksum, Container::open(folder / "data/data.poise").checksum());
}

/// The file with something changed in it and right checksums.
template <class Change>
std::string refusal_after(const Dataset& dataset, Change&& change) {
  const auto bytes = encode_dataset(dataset, {});
  const Container original = Container::parse(bytes, "original");
  Metadata metadata = original.metadata();
  std::vector<Tensor> tensors(original.tensors().begin(), original.tensors().end());
  change(metadata, tensors);
  const auto changed = container_bytes(metadata, tensors);
  return error_message(ErrorKind::input,
                       [&] { (void)decode_dataset(Container::parse(changed, "the file"), {.threads = 1}); });
}

TEST(DatasetFile, RoundTripOfAllKinds) {
  for (const SplitKind split :
       {SplitKind::users, SplitKind::given, SplitKind::none, SplitKind::time, SplitKind::last})
    for (const bool values : {false, true})
      for (const double density : {0.0, 0.2, 1.0})
        expect_round_trip(random_dataset({.density = density, .split = split, .values = values}));
}

TEST(DatasetFile, RoundTripOfEmptyAndMissingParts) {
  expect_round_trip({});
  expect_round_trip(random_dataset({.held_out_users = 0}));
  expect_round_trip(random_dataset({.held_out_users = 0, .split = SplitKind::given}));
  expect_round_trip(random_dataset({.users = 0}));
  expect_round_trip(random_dataset({.items = 0}));
  Dataset dataset = random_dataset({.split = SplitKind::given});
  dataset.validation.reset();
  expect_round_trip(dataset);
}

TEST(DatasetFile, CutsMustBeTimes) {
  const Dataset dataset = random_dataset({.split = SplitKind::time});
  for (const char* const key : {"test_from", "validation_from"}) {
    for (const char* const text : {"", "x", "1.5", "1 ", "9223372036854775808"}) {
      EXPECT_NE(refusal_after(dataset, [&](Metadata& metadata, auto&) { metadata[key] = text; })
                    .find("is not a time"),
                std::string::npos)
          << key << ' ' << text;
    }
  }
  EXPECT_NE(
      refusal_after(dataset, [](Metadata& metadata, auto&) { metadata.erase("test_from"); }).find("its cuts"),
      std::string::npos);
}

TEST(DatasetFile, WritesOneFileAndReplacesIt) {
  const TemporaryFolder folder;
  write_dataset(folder / "a/b/data", random_dataset({.seed = 1}), {});
  write_dataset(folder / "a/b/data", random_dataset({.seed = 2}), {});
  EXPECT_EQ(read_dataset(folder / "a/b/data", {}).dataset, random_dataset({.seed = 2}));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder / "a/b/data"), {}), 1);
}

TEST(DatasetFile, EvaluationReadsWhatItNeeds) {
  const TemporaryFolder folder;
  for (const SplitKind split : {SplitKind::users, SplitKind::given}) {
    const Dataset dataset = random_dataset({.split = split, .values = true});
    write_dataset(folder / "data", dataset, {});
    for (const std::string part : {"test", "validation"}) {
      const EvaluationData data = read_evaluation_data(folder / "data", part, {.threads = 2});
      EXPECT_EQ(data.checksum, read_dataset(folder / "data", {}).checksum);
      EXPECT_EQ(data.training_counts, column_counts(dataset.train.view()));
      EXPECT_EQ(data.dataset.items, dataset.items);
      const bool test = part == "test";
      EXPECT_EQ(data.dataset.test, test ? dataset.test : std::nullopt);
      EXPECT_EQ(data.dataset.validation, test ? std::nullopt : dataset.validation);
      // The training rows are there where they are the histories.
      EXPECT_EQ(data.dataset.train.rows, split == SplitKind::given ? dataset.train.rows : 0);
      const HeldOut& held_out = test ? *data.dataset.test : *data.dataset.validation;
      const CsrView histories = data.dataset.histories(held_out).items;
      const CsrView expected = dataset.histories(test ? *dataset.test : *dataset.validation).items;
      EXPECT_TRUE(std::ranges::equal(histories.indices, expected.indices));
    }
  }
  write_dataset(folder / "none", random_dataset({.split = SplitKind::none}), {});
  EXPECT_FALSE(read_evaluation_data(folder / "none", "test", {}).dataset.test);
  error_message(ErrorKind::input, [&] { (void)read_evaluation_data(folder.path(), "test", {}); });
}

TEST(DatasetFile, SizesAreKnownFromTheHeader) {
  const TemporaryFolder folder;
  const Dataset dataset = random_dataset({});
  write_dataset(folder / "data", dataset, {});
  const DatasetSizes sizes = dataset_sizes(folder / "data");
  EXPECT_EQ(sizes.items, dataset.items.size());
  EXPECT_GT(sizes.history_bytes.at("test"), 0U);
  EXPECT_EQ(dataset_sizes(folder / "missing").items, 0);
}

TEST(DatasetFile, TheSameBytesWhateverTheThreads) {
  const Dataset dataset = random_dataset({.users = 40'000, .items = 100, .density = 0.4, .values = true});
  const auto bytes = encode_dataset(dataset, {.threads = 1});
  EXPECT_EQ(bytes, encode_dataset(dataset, {.threads = 4}));
  const Container container = Container::parse(bytes, "memory");
  EXPECT_EQ(decode_dataset(container, {.threads = 1}), dataset);
  EXPECT_EQ(decode_dataset(container, {.threads = 4}), dataset);
}

TEST(DatasetFile, AnyFlippedBitAndAnyCutIsNoticed) {
  const TemporaryFolder folder;
  write_dataset(folder / "data",
                random_dataset({.users = 6, .items = 5, .held_out_users = 2, .values = true}), {});
  const std::string bytes = testing::read_file(folder / "data/data.poise");
  const auto expect_refused = [&](const std::string& changed, std::size_t where) {
    const auto first = reinterpret_cast<const std::byte*>(changed.data());
    const std::vector<std::byte> copy(first, first + changed.size());
    error_message(ErrorKind::input,
                  [&] { (void)decode_dataset(Container::parse(copy, "memory", 1), {.threads = 1}); });
    if (where % 97 != 0) return;
    testing::write_file(folder / "data/data.poise", changed);
    const std::string message =
        error_message(ErrorKind::input, [&] { (void)read_dataset(folder / "data", {.threads = 1}); });
    EXPECT_THAT(message, HasSubstr("data.poise")) << where;
  };
  for (std::size_t k = 0; k < bytes.size(); ++k) {
    std::string changed = bytes;
    changed[k] = static_cast<char>(changed[k] ^ (1 << (k % 8)));
    expect_refused(changed, k);
    expect_refused(bytes.substr(0, k), k);
  }
}

TEST(DatasetFile, MissingDataSaysWhatToDo) {
  const TemporaryFolder folder;
  const auto message = error_message(ErrorKind::input, [&] { (void)read_dataset(folder.path(), {}); });
  EXPECT_THAT(message, HasSubstr(folder.path().string()));
  EXPECT_THAT(message, HasSubstr("poise prepare"));
}

TEST(DatasetFile, AFullDiskLeavesNothing) {
  const TemporaryFolder folder;
  const Dataset dataset = random_dataset({.users = 1000, .items = 100});
  const auto write_to = [&](const std::string& name) {
    error_message(ErrorKind::resources, [&] {
      const testing::FileSizeLimit limit(1000);
      write_dataset(folder / name, dataset, {});
    });
  };
  write_to("data");
  write_to("a/b/data");
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));

  write_dataset(folder / "data", random_dataset({}), {});
  write_to("data");
  EXPECT_EQ(read_dataset(folder / "data", {}).dataset, random_dataset({}));
}

TEST(DatasetFile, AFolderThatCannotBeMade) {
  const TemporaryFolder folder;
  testing::write_file(folder / "file", "");
  const auto write_to = [&](const std::string& name) {
    return error_message(ErrorKind::resources, [&] { write_dataset(folder / name, random_dataset({}), {}); });
  };
  EXPECT_THAT(write_to("file/data"), HasSubstr("Not a directory"));
  EXPECT_THAT(write_to("file"), HasSubstr("Not a directory"));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
}

TEST(DatasetFile, InconsistentDataIsNotWritten) {
  const TemporaryFolder folder;
  Dataset dataset = random_dataset({});
  dataset.train.indices.back() = 1000;
  error_message(ErrorKind::input, [&] { write_dataset(folder / "data", dataset, {}); });
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(DatasetFile, RightChecksumsDoNotMakeLiesTrue) {
  const Dataset dataset = random_dataset({.values = true});
  const auto with = [&](const std::string& key, const std::string& value) {
    return refusal_after(dataset, [&](Metadata& metadata, auto&) { metadata[key] = value; });
  };
  EXPECT_THAT(with("format", "poise-model"), HasSubstr("holds no prepared data but poise-model"));
  EXPECT_THAT(with("version", "2"), HasSubstr("version 2"));
  EXPECT_THAT(with("split", "other"), HasSubstr("unknown split"));
  for (const char* key : {"items", "train.users", "test.users", "duplicates"})
    for (const char* value : {"", "-1", "99999999999999999999", "1e3", "7 "}) with(key, value);
  for (const char* key : {"items", "train.users", "test.users"})
    for (const char* value : {"0", "21", "2147483647", "2147483648"}) with(key, value);
  for (const char* key : {"format", "version", "split", "items", "train.users", "duplicates"})
    refusal_after(dataset, [&](Metadata& metadata, auto&) { metadata.erase(key); });

  const auto count = Container::parse(encode_dataset(dataset, {}), "memory").tensors().size();
  for (std::size_t k = 0; k < count; ++k) {
    refusal_after(dataset, [&](auto&, std::vector<Tensor>& tensors) {
      tensors[k].bytes = tensors[k].bytes.first(tensors[k].bytes.size() - 1);
      tensors[k].shape[0] -= 1;
    });
    refusal_after(dataset, [&](auto&, std::vector<Tensor>& tensors) {
      tensors[k].type = ElementType::u8, tensors[k].name += "x";
    });
  }
}

TEST(DatasetFile, LoadingCanBeInterrupted) {
  const TemporaryFolder folder;
  write_dataset(folder / "data", random_dataset({}), {});
  testing::StopAtOnce observer;
  error_message(ErrorKind::interrupted,
                [&] { (void)read_dataset(folder / "data", {.threads = 2, .observer = &observer}); });
}

}  // namespace
}  // namespace poise
