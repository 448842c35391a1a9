#include "poise/data/log/byte_source.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "poise/base/error.hpp"

namespace poise::logs {

namespace {

constexpr std::size_t buffer_size = 256 * 1024;

/// The bytes of an input as they are stored, with a buffer for looking ahead.
class StoredBytes {
 public:
  StoredBytes(const std::filesystem::path& file, const Observer* observer)
      : name_(display_name(file)), observer_(observer) {
    // Without O_NONBLOCK, opening a named pipe would wait for a writer where no observer can be polled.
    file_ = file == standard_input ? ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)
                                   : ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file_ < 0) {
      fail_on_file(ErrorKind::input, "cannot open {}: {}; check the path", name_, std::strerror(errno));
    }
    struct stat about {};
    if (::fstat(file_, &about) == 0 && S_ISDIR(about.st_mode)) {
      ::close(file_);
      fail(ErrorKind::input, "{} is a folder; name the file in it that holds the log", name_);
    }
    waits_ = !S_ISREG(about.st_mode);
    buffer_.resize(std::clamp<std::int64_t>(about.st_size, 4096, buffer_size));
  }
  StoredBytes(std::string_view bytes, std::string name) : name_(std::move(name)), rest_(bytes) {}
  StoredBytes(StoredBytes&& other) noexcept
      : name_(std::move(other.name_)),
        observer_(other.observer_),
        file_(std::exchange(other.file_, -1)),
        waits_(other.waits_),
        buffer_(std::move(other.buffer_)),
        rest_(other.rest_),
        consumed_(other.consumed_) {}
  StoredBytes& operator=(StoredBytes&&) = delete;
  ~StoredBytes() {
    if (file_ >= 0) ::close(file_);
  }

  /// The bytes in the buffer, refilled if there are none; empty only at the end.
  std::string_view peek() {
    if (rest_.empty() && file_ >= 0) rest_ = {buffer_.data(), read_file(buffer_.data(), buffer_.size())};
    return rest_;
  }
  void take(std::size_t count) {
    rest_.remove_prefix(count);
    consumed_ += count;
  }
  std::size_t read(char* to, std::size_t capacity) {
    if (rest_.empty() && file_ >= 0) {
      const std::size_t count = read_file(to, capacity);
      consumed_ += count;
      return count;
    }
    const std::size_t count = rest_.copy(to, capacity);
    take(count);
    return count;
  }
  [[nodiscard]] std::uint64_t consumed() const { return consumed_; }
  [[nodiscard]] const std::string& name() const { return name_; }

 private:
  std::size_t read_file(char* to, std::size_t capacity) {
    while (true) {
      if (waits_) wait();
      const ssize_t count = ::read(file_, to, capacity);
      if (count >= 0) return count;
      if (errno != EINTR && errno != EAGAIN)
        fail_on_file(ErrorKind::input, "cannot read {}: {}", name_, std::strerror(errno));
      stop_if_asked(observer_);
    }
  }

  /// Waits for bytes or the end, in steps, because the signal that asks to stop may reach another thread.
  void wait() const {
    constexpr int step = 100;  // ms
    pollfd waiting{file_, POLLIN, 0};
    while (::poll(&waiting, 1, step) <= 0) stop_if_asked(observer_);
  }

  std::string name_;
  const Observer* observer_ = nullptr;
  int file_ = -1;
  bool waits_ = false;
  std::vector<char> buffer_;
  std::string_view rest_;
  std::uint64_t consumed_ = 0;
};

[[noreturn]] void fail_truncated(const std::string& name) {
  fail(ErrorKind::input, "{} ends in the middle of its compressed data; fetch or compress it again", name);
}

[[noreturn]] void fail_corrupt(const std::string& name, const char* reason) {
  fail(ErrorKind::input, "{} holds corrupt compressed data ({}); fetch or compress it again", name, reason);
}

class PlainSource final : public ByteSource {
 public:
  explicit PlainSource(StoredBytes stored) : stored_(std::move(stored)) {}
  std::size_t read(char* to, std::size_t capacity) override { return stored_.read(to, capacity); }
  [[nodiscard]] std::uint64_t consumed() const override { return stored_.consumed(); }

 private:
  StoredBytes stored_;
};

class GzipSource final : public ByteSource {
 public:
  explicit GzipSource(StoredBytes stored) : stored_(std::move(stored)) {
    constexpr int gzip_only = 16 + MAX_WBITS;
    if (inflateInit2(&stream_, gzip_only) != Z_OK) fail(ErrorKind::resources, "no memory to decompress");
  }
  GzipSource(const GzipSource&) = delete;
  GzipSource& operator=(const GzipSource&) = delete;
  ~GzipSource() override { inflateEnd(&stream_); }

  std::size_t read(char* to, std::size_t capacity) override {
    capacity = std::min<std::size_t>(capacity, 1U << 30U);
    while (true) {
      std::string_view input = stored_.peek();
      if (!in_member_) {
        // gzip pads files with zeros on devices that write whole blocks.
        while (!input.empty() && input.front() == '\0' && !first_member_) {
          stored_.take(1);
          input = stored_.peek();
        }
        if (input.empty()) return 0;
        inflateReset(&stream_);
        in_member_ = true;
        first_member_ = false;
      }
      stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(input.data()));
      stream_.avail_in = static_cast<uInt>(std::min<std::size_t>(input.size(), 1U << 30U));
      const uInt offered = stream_.avail_in;
      stream_.next_out = reinterpret_cast<Bytef*>(to);
      stream_.avail_out = static_cast<uInt>(capacity);
      const int status = inflate(&stream_, Z_NO_FLUSH);
      stored_.take(offered - stream_.avail_in);
      if (status == Z_STREAM_END) {
        in_member_ = false;
      } else if (status != Z_OK && status != Z_BUF_ERROR) {
        fail_corrupt(stored_.name(), stream_.msg != nullptr ? stream_.msg : "gzip");
      }
      if (stream_.avail_out < capacity) return capacity - stream_.avail_out;
      if (input.empty() && in_member_) fail_truncated(stored_.name());
    }
  }
  [[nodiscard]] std::uint64_t consumed() const override { return stored_.consumed(); }

 private:
  StoredBytes stored_;
  z_stream stream_{};
  bool in_member_ = false;
  bool first_member_ = true;
};

class ZstdSource final : public ByteSource {
 public:
  explicit ZstdSource(StoredBytes stored) : stored_(std::move(stored)), stream_(ZSTD_createDStream()) {
    if (!stream_) fail(ErrorKind::resources, "no memory to decompress");
  }

  std::size_t read(char* to, std::size_t capacity) override {
    while (true) {
      const std::string_view input = stored_.peek();
      if (input.empty() && !in_frame_) return 0;
      ZSTD_inBuffer in{input.data(), input.size(), 0};
      ZSTD_outBuffer out{to, capacity, 0};
      const std::size_t status = ZSTD_decompressStream(stream_.get(), &out, &in);
      if (ZSTD_isError(status) != 0U) fail_decoding(status);
      stored_.take(in.pos);
      in_frame_ = status != 0;
      if (out.pos > 0) return out.pos;
      if (input.empty() && in_frame_) fail_truncated(stored_.name());
    }
  }
  [[nodiscard]] std::uint64_t consumed() const override { return stored_.consumed(); }

 private:
  [[noreturn]] void fail_decoding(std::size_t status) const {
    if (ZSTD_getErrorCode(status) == ZSTD_error_frameParameter_windowTooLarge) {
      fail(ErrorKind::input,
           "{} was compressed with a window above 128 MiB; compress it again with zstd --long=27 at most",
           stored_.name());
    }
    fail_corrupt(stored_.name(), ZSTD_getErrorName(status));
  }

  struct Free {
    void operator()(ZSTD_DStream* stream) const { ZSTD_freeDStream(stream); }
  };
  StoredBytes stored_;
  std::unique_ptr<ZSTD_DStream, Free> stream_;
  bool in_frame_ = false;
};

bool is_zstd(std::string_view head) {
  if (head.size() < 4) return false;
  const bool skippable = (head[0] & 0xf0) == 0x50 && head.substr(1, 3) == "\x2a\x4d\x18";
  return skippable || head.substr(0, 4) == "\x28\xb5\x2f\xfd";
}

std::unique_ptr<ByteSource> open_stored(StoredBytes stored) {
  const std::string_view head = stored.peek();
  if (head.substr(0, 2) == "\x1f\x8b") return std::make_unique<GzipSource>(std::move(stored));
  if (is_zstd(head)) return std::make_unique<ZstdSource>(std::move(stored));
  if (head == "\x1f" || head == "\x28\xb5" || head == "\x28\xb5\x2f") fail_truncated(stored.name());
  return std::make_unique<PlainSource>(std::move(stored));
}

}  // namespace

std::string display_name(const std::filesystem::path& file) {
  return file == standard_input ? "standard input" : file.string();
}

bool is_read_once(const std::filesystem::path& file) {
  std::error_code ignored;
  return file == standard_input ||
         (std::filesystem::exists(file, ignored) && !std::filesystem::is_regular_file(file, ignored) &&
          !std::filesystem::is_directory(file, ignored));
}

std::unique_ptr<ByteSource> open_bytes(const std::filesystem::path& file, const Observer* observer) {
  return open_stored(StoredBytes(file, observer));
}

std::unique_ptr<ByteSource> open_bytes(std::string_view bytes, const std::string& name) {
  return open_stored(StoredBytes(bytes, name));
}

}  // namespace poise::logs
