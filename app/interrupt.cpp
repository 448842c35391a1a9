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
  // Without SA_RESTART, so that waiting for a pipe without a writer ends.
  for (const int signal : {SIGINT, SIGTERM}) sigaction(signal, &action, nullptr);
  struct sigaction before {};
  // nohup asks for work that continues after the terminal is closed.
  if (sigaction(SIGHUP, nullptr, &before) == 0 && before.sa_handler != SIG_IGN) {
    sigaction(SIGHUP, &action, nullptr);
  }
  // A closed pipe or a file-size limit becomes a write error instead of ending the program with half-written
  // files.
  for (const int signal : {SIGPIPE, SIGXFSZ}) static_cast<void>(std::signal(signal, SIG_IGN));
}

bool interrupted() { return stop.load(); }

void go_on_after_interruption() { stop.store(false); }

}  // namespace poise::app
