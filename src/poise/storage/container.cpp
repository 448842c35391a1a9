#include "poise/storage/container.hpp"

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <cstring>
#include <type_traits>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "poise/base/error.hpp"
#include "poise/storage/container_header.hpp"

namespace poise {
namespace {

using namespace container_layout;

std::uint64_t load_u64(std::span<const std::byte> bytes, std::uint64_t offset) {
  std::uint64_t value = 0;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

std::uint64_t hash(std::span<const std::byte> bytes) { return XXH3_64bits(bytes.data(), bytes.size()); }

[[noreturn]] void cut_short(std::string_view name) {
  fail(ErrorKind::input, "{} is cut short; make it again or restore a copy", name);
}

[[noreturn]] void checksum_differs(std::string_view name, std::string_view part) {
  fail(ErrorKind::input, "{} is damaged: checksum of {} differs; make it again or restore a copy", name,
       part);
}

/// Where the tensors' bytes begin. The checksum of the header is their first element, so it is checked before
/// the header is parsed.
std::uint64_t checked_data_begin(std::span<const std::byte> bytes, std::string_view name) {
  constexpr std::uint64_t length_bytes = sizeof(std::uint64_t);
  if (bytes.size() < length_bytes) cut_short(name);
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()) + length_bytes,
                              bytes.size() - length_bytes);
  if (!text.starts_with(signature.substr(0, text.size())))
    fail(ErrorKind::input, "{} is not a Poise file", name);
  if (text.size() < signature.size()) cut_short(name);
  const std::uint64_t length = load_u64(bytes, 0);
  if (length > max_header_bytes || length % alignment != 0) checksum_differs(name, "the header");
  if (text.size() < length + sizeof(std::uint64_t)) cut_short(name);
  const std::uint64_t begin = length_bytes + length;
  if (hash(bytes.first(begin)) != load_u64(bytes, begin)) checksum_differs(name, "the header");
  return begin;
}

void check_chunks(std::span<const std::byte> checksums, std::span<const std::byte> rest,
                  std::string_view name, int threads) {
  const Tiling tiling{static_cast<std::int64_t>(rest.size()), static_cast<std::int64_t>(chunk_bytes)};
  for_each_tile(tiling.tiles(), threads, [&](std::int64_t tile) {
    const auto chunk = rest.subspan(tiling.first(tile), tiling.last(tile) - tiling.first(tile));
    if (hash(chunk) != load_u64(checksums, (tile + 1) * sizeof(std::uint64_t)))
      checksum_differs(name, fmt::format("data chunk {}", tile + 1));
  });
}

class Mapping {
 public:
  explicit Mapping(const std::filesystem::path& path) {
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0)
      fail_on_file(ErrorKind::input, "cannot open {}: {}", path.string(), std::strerror(errno));
    struct stat status = {};
    const bool regular = ::fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode);
    int reason = 0;
    if (regular && status.st_size > 0) {
      void* const address = ::mmap(nullptr, status.st_size, PROT_READ, MAP_PRIVATE, descriptor, 0);
      if (address == MAP_FAILED)
        reason = errno;
      else
        bytes_ = {static_cast<const std::byte*>(address), static_cast<std::size_t>(status.st_size)};
    }
    ::close(descriptor);
    if (S_ISDIR(status.st_mode)) fail(ErrorKind::input, "{} is a folder, not a file of Poise", path.string());
    if (!regular) fail(ErrorKind::input, "{} is not a Poise file", path.string());
    if (reason != 0)
      fail_on_file(ErrorKind::resources, "cannot map {}: {}", path.string(), std::strerror(reason));
  }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  ~Mapping() {
    if (!bytes_.empty()) ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
  }
  [[nodiscard]] std::span<const std::byte> bytes() const { return bytes_; }

 private:
  std::span<const std::byte> bytes_;
};

template <class T>
constexpr ElementType element_type() {
  if constexpr (std::is_same_v<T, std::uint8_t>) return ElementType::u8;
  if constexpr (std::is_same_v<T, std::int32_t>) return ElementType::i32;
  if constexpr (std::is_same_v<T, std::int64_t>) return ElementType::i64;
  if constexpr (std::is_same_v<T, std::uint64_t>) return ElementType::u64;
  if constexpr (std::is_same_v<T, float>) return ElementType::f32;
  if constexpr (std::is_same_v<T, double>) return ElementType::f64;
}

}  // namespace

Container Container::open(const std::filesystem::path& path, int threads) {
  const auto mapping = std::make_shared<const Mapping>(path);
  Container container = parse(mapping->bytes(), path.string(), threads);
  container.mapping_ = mapping;
  return container;
}

Container Container::peek(const std::filesystem::path& path) {
  const auto mapping = std::make_shared<const Mapping>(path);
  Container container = read(mapping->bytes(), path.string(), 0);
  container.mapping_ = mapping;
  return container;
}

Container Container::parse(std::span<const std::byte> bytes, std::string_view name, int threads) {
  return read(bytes, name, std::max(threads, 1));
}

Container Container::read(std::span<const std::byte> bytes, std::string_view name, int threads) {
  assert(reinterpret_cast<std::uintptr_t>(bytes.data()) % alignment == 0);
  const std::uint64_t begin = checked_data_begin(bytes, name);
  const std::string_view json(reinterpret_cast<const char*>(bytes.data()) + sizeof(std::uint64_t),
                              begin - sizeof(std::uint64_t));
  ContainerHeader header = parse_container_header(json, name);
  const auto data = bytes.subspan(begin);
  if (data.size() < header.data_bytes) cut_short(name);
  if (data.size() > header.data_bytes)
    fail(ErrorKind::input, "{} is damaged: {} bytes follow its end; make it again or restore a copy", name,
         data.size() - header.data_bytes);

  const auto checksums = data.first(header.checksums_bytes);
  if (threads > 0) check_chunks(checksums, data.subspan(header.checksums_bytes), name, threads);

  Container container;
  container.name_ = name;
  container.metadata_ = std::move(header.metadata);
  for (auto& entry : header.tensors) {
    entry.tensor.bytes = data.subspan(entry.begin, entry.end - entry.begin);
    container.tensors_.push_back(std::move(entry.tensor));
  }
  container.checksum_ = fmt::format("{:016x}", hash(checksums));
  return container;
}

const std::string& Container::metadata(const std::string& key) const {
  const auto found = metadata_.find(key);
  if (found == metadata_.end()) fail(ErrorKind::input, "{} has no metadata \"{}\"", name_, key);
  return found->second;
}

bool Container::has(std::string_view tensor) const {
  for (const Tensor& candidate : tensors_)
    if (candidate.name == tensor) return true;
  return false;
}

const Tensor& Container::tensor(std::string_view name, ElementType type) const {
  for (const Tensor& candidate : tensors_) {
    if (candidate.name != name) continue;
    if (candidate.type != type)
      fail(ErrorKind::input, "{}: tensor {} has type {}, expected {}", name_, name, info(candidate.type).name,
           info(type).name);
    return candidate;
  }
  fail(ErrorKind::input, "{} has no tensor {}", name_, name);
}

template <class T>
std::span<const T> Container::elements(std::string_view name) const {
  const auto bytes = tensor(name, element_type<T>()).bytes;
  return {reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)};
}

template std::span<const std::uint8_t> Container::elements(std::string_view) const;
template std::span<const std::int32_t> Container::elements(std::string_view) const;
template std::span<const std::int64_t> Container::elements(std::string_view) const;
template std::span<const std::uint64_t> Container::elements(std::string_view) const;
template std::span<const float> Container::elements(std::string_view) const;
template std::span<const double> Container::elements(std::string_view) const;

}  // namespace poise
