#include "poise/storage/container.hpp"

#include <cstring>
#include <numeric>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/expect_error.hpp"
#include "support/file_size_limit.hpp"
#include "support/test_data.hpp"

namespace poise {
namespace {

using testing::error_message;
using ::testing::HasSubstr;
using testing::TemporaryFolder;

template <class T>
Tensor tensor(const std::string& name, ElementType type, const std::vector<T>& elements) {
  return {name, type, {static_cast<std::int64_t>(elements.size())}, std::as_bytes(std::span(elements))};
}

struct Example {
  std::vector<std::uint8_t> bytes = {1, 2, 3};
  std::vector<float> floats = {1.5F, -2.0F, 3.0F};
  std::vector<std::int64_t> numbers = {-1, std::int64_t{1} << 40};
  std::vector<std::int32_t> none;
  Metadata metadata = {{"format", "example"}, {"text", "\"quoted\"\n\xc3\xa9"}};

  [[nodiscard]] std::vector<Tensor> tensors() const {
    return {tensor("bytes", ElementType::u8, bytes), tensor("floats", ElementType::f32, floats),
            tensor("numbers", ElementType::i64, numbers), tensor("none", ElementType::i32, none)};
  }
};

template <class T>
std::vector<T> to_vector(std::span<const T> elements) {
  return {elements.begin(), elements.end()};
}

void expect_refused(const std::vector<std::byte>& bytes, const std::string& what) {
  const std::string message =
      error_message(ErrorKind::input, [&] { (void)Container::parse(bytes, "the file", 1); });
  EXPECT_THAT(message, HasSubstr("the file")) << what;
}

TEST(Container, RoundTrip) {
  const TemporaryFolder folder;
  const Example example;
  write_container(folder / "file", example.metadata, example.tensors());
  const Container container = Container::open(folder / "file");
  EXPECT_EQ(container.metadata(), example.metadata);
  EXPECT_EQ(container.metadata("format"), "example");
  EXPECT_EQ(to_vector(container.elements<std::uint8_t>("bytes")), example.bytes);
  EXPECT_EQ(to_vector(container.elements<float>("floats")), example.floats);
  EXPECT_EQ(to_vector(container.elements<std::int64_t>("numbers")), example.numbers);
  EXPECT_TRUE(container.elements<std::int32_t>("none").empty());
  EXPECT_FALSE(container.has("checksums"));
  EXPECT_EQ(container.tensors().size(), 4U);
  EXPECT_EQ(container.name(), (folder / "file").string());
}

TEST(Container, ElementsAreAlignedWhateverTheOrder) {
  const Example example;
  const auto bytes = container_bytes({}, example.tensors());
  const Container container = Container::parse(bytes, "memory");
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(container.elements<std::int64_t>("numbers").data()) % 8, 0U);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(container.elements<float>("floats").data()) % 4, 0U);
}

TEST(Container, EmptyAndWithoutTensors) {
  const auto bytes = container_bytes({}, {});
  const Container container = Container::parse(bytes, "memory");
  EXPECT_TRUE(container.metadata().empty());
  EXPECT_TRUE(container.tensors().empty());
}

TEST(Container, SameArgumentsSameBytesAndChecksum) {
  const TemporaryFolder folder;
  const Example example;
  write_container(folder / "file", example.metadata, example.tensors());
  const auto bytes = container_bytes(example.metadata, example.tensors());
  const std::string file = testing::read_file(folder / "file");
  ASSERT_EQ(file.size(), bytes.size());
  EXPECT_EQ(std::memcmp(file.data(), bytes.data(), bytes.size()), 0);
  const std::string checksum = Container::parse(bytes, "memory").checksum();
  EXPECT_EQ(checksum.size(), 16U);
  EXPECT_EQ(checksum, Container::open(folder / "file").checksum());

  Example other = example;
  other.floats[0] = 1.0F;
  EXPECT_NE(Container::parse(container_bytes(other.metadata, other.tensors()), "memory").checksum(),
            checksum);
  other = example;
  other.metadata["text"] = "x";
  EXPECT_NE(Container::parse(container_bytes(other.metadata, other.tensors()), "memory").checksum(),
            checksum);
}

TEST(Container, ManyChunks) {
  std::vector<std::int32_t> large(10'000'000);  // 40 MB: three chunks, the last one partly filled
  std::iota(large.begin(), large.end(), 0);
  const std::vector<Tensor> tensors = {tensor("large", ElementType::i32, large)};
  auto bytes = container_bytes({}, tensors);
  for (const int threads : {1, 3}) {
    const Container container = Container::parse(bytes, "memory", threads);
    EXPECT_TRUE(std::ranges::equal(container.elements<std::int32_t>("large"), large));
  }
  for (const std::size_t back : {1, 20'000'000, 39'999'999}) {
    bytes[bytes.size() - back] ^= std::byte{1};
    expect_refused(bytes, "a flipped bit");
    bytes[bytes.size() - back] ^= std::byte{1};
  }
}

TEST(Container, AnyFlippedBitIsNoticed) {
  const Example example;
  auto bytes = container_bytes(example.metadata, example.tensors());
  for (std::size_t k = 0; k < bytes.size(); ++k) {
    for (int bit = 0; bit < 8; ++bit) {
      bytes[k] ^= std::byte{1} << bit;
      expect_refused(bytes, fmt::format("bit {} of byte {}", bit, k));
      bytes[k] ^= std::byte{1} << bit;
    }
  }
}

TEST(Container, AnyCutIsNoticed) {
  const Example example;
  const auto bytes = container_bytes(example.metadata, example.tensors());
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const std::vector<std::byte> cut(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size));
    const std::string message =
        error_message(ErrorKind::input, [&] { (void)Container::parse(cut, "the file", 1); });
    EXPECT_THAT(message, HasSubstr("the file is cut short")) << size;
  }
  auto longer = bytes;
  longer.push_back(std::byte{0});
  expect_refused(longer, "a byte more");
}

TEST(Container, OpenNamesTheFileAndTheReason) {
  const TemporaryFolder folder;
  const auto message_for = [](const std::filesystem::path& path) {
    return error_message(ErrorKind::input, [&] { (void)Container::open(path); });
  };
  EXPECT_THAT(message_for(folder / "missing"), HasSubstr("missing: No such file or directory"));
  EXPECT_THAT(message_for(folder.path()), HasSubstr("is a folder, not a file of Poise"));
  testing::write_file(folder / "empty", "");
  EXPECT_THAT(message_for(folder / "empty"), HasSubstr("empty is cut short"));
  testing::write_file(folder / "text", "user,item\n1,2\n3,4\n");
  EXPECT_THAT(message_for(folder / "text"), HasSubstr("text is not a Poise file"));
}

TEST(Container, WrongNamesAndTypes) {
  const Example example;
  const auto bytes = container_bytes(example.metadata, example.tensors());
  const Container container = Container::parse(bytes, "the file");
  const auto message = [](auto&& body) { return error_message(ErrorKind::input, body); };
  EXPECT_EQ(message([&] { (void)container.metadata("other"); }), "the file has no metadata \"other\"");
  EXPECT_EQ(message([&] { (void)container.tensor("other", ElementType::u8); }),
            "the file has no tensor other");
  EXPECT_EQ(message([&] { (void)container.elements<double>("floats"); }),
            "the file: tensor floats has type F32, expected F64");
}

TEST(Container, TextsThatAreNotUtf8AreRefused) {
  error_message(ErrorKind::input, [] { (void)container_bytes({{"key", "\xff"}}, {}); });
}

/// Several chunks, the first and the last of which hold parts of several tensors.
struct LargeExample {
  std::vector<std::int64_t> numbers = std::vector<std::int64_t>(1001, 7);
  std::vector<float> floats = std::vector<float>(10'000'019);
  std::vector<std::uint8_t> bytes = std::vector<std::uint8_t>(77, 3);

  LargeExample() { std::iota(floats.begin(), floats.end(), 0.0F); }
  [[nodiscard]] std::vector<Tensor> tensors() const {
    return {tensor("bytes", ElementType::u8, bytes), tensor("floats", ElementType::f32, floats),
            tensor("numbers", ElementType::i64, numbers)};
  }
};

TEST(Container, ThreadsWriteTheSameBytes) {
  const TemporaryFolder folder;
  const LargeExample example;
  const Metadata metadata = {{"key", "value"}};
  const auto bytes = container_bytes(metadata, example.tensors(), 1);
  EXPECT_EQ(container_bytes(metadata, example.tensors(), 4), bytes);
  for (const int threads : {1, 4}) {
    write_container(folder / "file", metadata, example.tensors(), threads);
    const std::string file = testing::read_file(folder / "file");
    ASSERT_EQ(file.size(), bytes.size());
    EXPECT_EQ(std::memcmp(file.data(), bytes.data(), bytes.size()), 0) << threads;
  }
  // The tensors' bytes end the file, in file order; what precedes them is checked by opening it.
  const Container container = Container::open(folder / "file");
  EXPECT_TRUE(std::ranges::equal(container.elements<float>("floats"), example.floats));
  EXPECT_TRUE(std::ranges::equal(container.elements<std::int64_t>("numbers"), example.numbers));
  EXPECT_TRUE(std::ranges::equal(container.elements<std::uint8_t>("bytes"), example.bytes));
}

TEST(Container, ADiskThatIsFullForSeveralThreadsLeavesNothing) {
  const TemporaryFolder folder;
  const LargeExample example;
  const std::string message = error_message(ErrorKind::resources, [&] {
    const testing::FileSizeLimit limit(20'000'000);  // in the midst of the second chunk
    write_container(folder / "file", {}, example.tensors(), 4);
  });
  EXPECT_THAT(message, HasSubstr((folder / "file").string()));
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(Container, PeekReadsTheHeaderAlone) {
  const TemporaryFolder folder;
  const Example example;
  write_container(folder / "file", example.metadata, example.tensors());
  std::string file = testing::read_file(folder / "file");
  file.back() = static_cast<char>(file.back() ^ 1);
  testing::write_file(folder / "file", file);
  error_message(ErrorKind::input, [&] { (void)Container::open(folder / "file"); });
  const Container container = Container::peek(folder / "file");
  EXPECT_EQ(container.metadata(), example.metadata);
  EXPECT_EQ(container.tensor("floats", ElementType::f32).bytes.size(), 12U);
  file[20] = static_cast<char>(file[20] ^ 1);
  testing::write_file(folder / "file", file);
  error_message(ErrorKind::input, [&] { (void)Container::peek(folder / "file"); });
}

TEST(Container, AFullDiskLeavesNothing) {
  const TemporaryFolder folder;
  const std::vector<float> large(100'000);
  error_message(ErrorKind::resources, [&] {
    const testing::FileSizeLimit limit(4096);
    write_container(folder / "file", {}, std::vector<Tensor>{tensor("large", ElementType::f32, large)});
  });
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

}  // namespace
}  // namespace poise
