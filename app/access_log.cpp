#include "access_log.hpp"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <unistd.h>

#include "poise/base/error.hpp"

namespace poise::app {

namespace {

constexpr std::size_t most_kept = std::size_t{64} << 10;

}  // namespace

AccessLog::AccessLog(const std::string& file) {
  if (file.empty()) return;
  file_ = file == "-" ? ::dup(STDOUT_FILENO)
                      : ::open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0640);
  if (file_ < 0) fail(ErrorKind::input, "cannot write {}: {}", file, std::strerror(errno));
}

AccessLog::~AccessLog() {
  flush();
  if (file_ >= 0) ::close(file_);
}

void AccessLog::write(std::string_view line) {
  const std::lock_guard lock(mutex_);
  lines_ += line;
  lines_ += '\n';
  if (lines_.size() >= most_kept) put();
}

void AccessLog::flush() {
  const std::lock_guard lock(mutex_);
  put();
}

void AccessLog::put() {
  std::string_view rest = lines_;
  while (!rest.empty() && file_ >= 0) {
    const ssize_t size = ::write(file_, rest.data(), rest.size());
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) break;  // a full disk loses lines, not requests
    rest.remove_prefix(static_cast<std::size_t>(size));
  }
  lines_.clear();
}

}  // namespace poise::app
