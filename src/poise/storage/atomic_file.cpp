#include "poise/storage/atomic_file.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <system_error>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "poise/base/error.hpp"

namespace poise {
namespace {

constexpr std::string_view suffix = ".partial";

[[noreturn]] void fail_to_write(const std::filesystem::path& path, int reason) {
  fail_on_file(ErrorKind::resources, "cannot write {}: {}", path.string(), std::strerror(reason));
}

std::filesystem::path folder_of(const std::filesystem::path& path) {
  return path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
}

/// The prefix of the temporary files' names. Long names are cut so that the rest of the name still fits; only
/// the writers' numbers then distinguish the files of two targets.
std::string temporary_prefix(const std::filesystem::path& path) {
  constexpr std::size_t longest = 200;  // of the 255 bytes that file systems allow
  return fmt::format(".{}.", path.filename().string().substr(0, longest));
}

/// The end of a chain of symbolic links, whether or not a file exists there; the path itself if it is no
/// link.
std::filesystem::path follow_links(std::filesystem::path path) {
  std::error_code error;
  for (int links = 0; std::filesystem::is_symlink(path, error); ++links) {
    constexpr int most = 40;  // the kernel's limit
    if (links == most) fail_to_write(path, ELOOP);
    const std::filesystem::path target = std::filesystem::read_symlink(path, error);
    if (error) fail_to_write(path, error.value());
    path = folder_of(path) / target;  // an absolute target replaces the folder
  }
  return path;
}

/// `.NAME.PID-NUMBER.partial`: the number distinguishes the files of one process.
std::filesystem::path temporary_for(const std::filesystem::path& path) {
  static std::atomic<unsigned> number = 0;
  return folder_of(path) /
         fmt::format("{}{}-{}{}", temporary_prefix(path), ::getpid(), number.fetch_add(1), suffix);
}

/// The process that made a temporary file for the target with this prefix; none for any other name.
std::optional<pid_t> writer_of(std::string_view name, std::string_view prefix) {
  if (!name.starts_with(prefix) || !name.ends_with(suffix)) return {};
  if (name.size() <= prefix.size() + suffix.size()) return {};
  name = name.substr(prefix.size(), name.size() - prefix.size() - suffix.size());
  const char* const end = name.data() + name.size();
  pid_t pid = 0;
  const auto [dash, pid_error] = std::from_chars(name.data(), end, pid);
  if (pid_error != std::errc() || pid <= 0 || dash == end || *dash != '-') return {};
  unsigned number = 0;
  const auto [rest, number_error] = std::from_chars(dash + 1, end, number);
  if (number_error != std::errc() || rest != end) return {};
  return pid;
}

/// Removes temporary files that killed processes left for this target. On a volume that several machines or
/// containers share, a process number proves little, so every writer holds a lock.
void remove_stale(const std::filesystem::path& path) {
  const std::string prefix = temporary_prefix(path);
  std::error_code ignored;
  std::filesystem::directory_iterator entry(folder_of(path), ignored);
  for (; !ignored && entry != std::filesystem::directory_iterator(); entry.increment(ignored)) {
    const auto pid = writer_of(entry->path().filename().string(), prefix);
    if (!pid || ::kill(*pid, 0) == 0 || errno != ESRCH) continue;
    const int descriptor = ::open(entry->path().c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (descriptor < 0) continue;
    if (::flock(descriptor, LOCK_EX | LOCK_NB) == 0) ::unlink(entry->path().c_str());
    ::close(descriptor);
  }
}

/// pwrite, again after a signal.
ssize_t write_part(int descriptor, std::span<const std::byte> bytes, off_t at) {
  ssize_t written = -1;
  do {
    written = ::pwrite(descriptor, bytes.data(), bytes.size(), at);
  } while (written < 0 && errno == EINTR);
  return written;
}

/// Makes the rename itself durable. Some file systems cannot and report an error, which is ignored.
void sync_folder(const std::filesystem::path& path) {
  const int descriptor = ::open(folder_of(path).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;
  const int result = ::fsync(descriptor);
  const int reason = errno;
  ::close(descriptor);
  if (result != 0 && (reason == EIO || reason == ENOSPC || reason == EDQUOT)) fail_to_write(path, reason);
}

}  // namespace

AtomicFile::AtomicFile(std::filesystem::path path, bool past_cache) : path_(follow_links(std::move(path))) {
  if (!path_.has_filename())
    fail_on_file(ErrorKind::resources, "cannot write \"{}\": not a file name", path_.string());
  std::error_code error;
  const auto status = std::filesystem::status(path_, error);
  // The temporary file's name may be short enough although the target's is not.
  if (error == std::errc::filename_too_long) fail_to_write(path_, ENAMETOOLONG);
  // The rename would replace a device or a pipe by a plain file.
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status))
    fail_on_file(ErrorKind::resources, "cannot write {}: it exists and is not a regular file",
                 path_.string());
  remove_stale(path_);
  temporary_ = temporary_for(path_);
  descriptor_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (descriptor_ < 0) fail_to_write(path_, errno);
  ::flock(descriptor_, LOCK_EX | LOCK_NB);
#ifdef O_DIRECT
  if (past_cache) direct_ = ::open(temporary_.c_str(), O_WRONLY | O_DIRECT | O_CLOEXEC);
#endif
}

AtomicFile::~AtomicFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (direct_ >= 0) ::close(direct_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void AtomicFile::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail_to_write(path_, errno);
    if (written == 0) fail_to_write(path_, ENOSPC);
    bytes = bytes.subspan(written);
  }
}

void AtomicFile::reserve(std::uint64_t bytes) {
  while (::fallocate(descriptor_, 0, 0, static_cast<off_t>(bytes)) != 0) {
    if (errno == EINTR) continue;
    if (errno == ENOSPC || errno == EDQUOT || errno == EFBIG) fail_to_write(path_, errno);
    return;  // this file system cannot reserve space; later writes report any other error
  }
}

void AtomicFile::write_at(std::uint64_t offset, std::span<const std::byte> bytes) const {
  constexpr std::uint64_t block = 4096;  // what disks and file systems of today ask for, or a multiple of it
  constexpr std::uint64_t at_once = std::uint64_t{4} << 20;
  const std::uint64_t end = offset + bytes.size();
  const std::uint64_t first = (offset + block - 1) / block * block;
  const std::uint64_t last = end / block * block;
  if (direct_ < 0 || first >= last) return write_cached(offset, bytes);
  write_cached(offset, bytes.first(first - offset));
  write_cached(last, bytes.subspan(last - offset));
  const std::unique_ptr<void, decltype(&std::free)> aligned(
      std::aligned_alloc(block, std::min(at_once, last - first)), &std::free);
  if (!aligned) return write_cached(first, bytes.subspan(first - offset, last - first));
  for (std::uint64_t at = first; at < last; at += at_once) {
    const auto part = bytes.subspan(at - offset, std::min(at_once, last - at));
    std::memcpy(aligned.get(), part.data(), part.size());
    // Whatever it refuses the cache takes, or says why not.
    if (::pwrite(direct_, aligned.get(), part.size(), static_cast<off_t>(at)) !=
        static_cast<ssize_t>(part.size()))
      write_cached(at, part);
  }
}

void AtomicFile::write_cached(std::uint64_t offset, std::span<const std::byte> bytes) const {
  const auto begin = static_cast<off_t>(offset);
  auto at = begin;
  for (auto rest = bytes; !rest.empty();) {
    const ssize_t written = write_part(descriptor_, rest, at);
    if (written < 0) fail_to_write(path_, errno);
    if (written == 0) fail_to_write(path_, ENOSPC);
    rest = rest.subspan(written);
    at += written;
  }
  // Starts the write-back early; only the speed depends on it. commit() waits and receives errors.
  static_cast<void>(::sync_file_range(descriptor_, begin, at - begin, SYNC_FILE_RANGE_WRITE));
}

void AtomicFile::commit() {
  while (::fsync(descriptor_) != 0) {
    if (errno != EINTR) fail_to_write(path_, errno);
  }
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) fail_to_write(path_, errno);
  temporary_.clear();
  ::close(descriptor_);  // after fsync there is no write error left to report
  descriptor_ = -1;
  sync_folder(path_);
}

}  // namespace poise
