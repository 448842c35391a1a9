#include "interrupt.hpp"

#include <atomic>
#include <csignal>

#include <unistd.h>

#include "exit_code.hpp"

namespace poise::app {

namespace {

std::atomic<bool> stop = false;
static_assert(std::atomic<bool>::is_always_lock_free);

void on_signal(int /*signal*/) {
  if (stop.exchange(true)) _exit(exit_interrupted);
}

}  // namespace

void watch_for_interrupts() {
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaction(signal, &action, nullptr);
  // A closed pipe or a file-size limit is a write error, not a death with files half done.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
}

bool interrupted() { return stop.load(); }

}  // namespace poise::app
