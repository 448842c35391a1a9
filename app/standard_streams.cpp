#include "standard_streams.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>

#include <fcntl.h>
#include <unistd.h>

#include "poise/base/error.hpp"

namespace poise::app {

namespace {
bool streams_are_silent = false;
}

void silence_streams(bool silent) { streams_are_silent = silent; }

void fill_closed_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(stream, F_GETFD) != -1 || errno != EBADF) continue;
    // open() returns the lowest free descriptor.
    if (::open("/dev/null", stream == STDERR_FILENO ? O_WRONLY : O_RDONLY) != stream) return;
  }
}

void write_stderr(std::string_view text) noexcept {
  if (streams_are_silent) return;
  const std::size_t ignored = std::fwrite(text.data(), 1, text.size(), stderr);
  static_cast<void>(ignored);
  static_cast<void>(std::fflush(stderr));
}

void write_stdout(std::string_view text) {
  if (streams_are_silent) return;
  if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0) return;
  if (errno != EPIPE) fail(ErrorKind::resources, "cannot write to standard output: {}", std::strerror(errno));
}

}  // namespace poise::app
