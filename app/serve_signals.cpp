#include "serve_signals.hpp"

#include <ctime>
#include <utility>

#include <pthread.h>

namespace poise::app {

namespace {

constexpr std::array served = {SIGTERM, SIGINT, SIGHUP};

sigset_t served_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : served) sigaddset(&signals, signal);
  return signals;
}

// A thread that a library started before main(), as OpenBLAS on pthreads does, blocks no signal and may take
// one: it is counted then.
std::atomic<int> taken_ends = 0;
std::atomic<int> taken_reloads = 0;
static_assert(std::atomic<int>::is_always_lock_free);

void on_taken(int signal) { (signal == SIGHUP ? taken_reloads : taken_ends).fetch_add(1); }

/// The next signal, or one that another thread took; 0 if none came for a tenth of a second.
int next_signal(const sigset_t& signals) {
  constexpr timespec step = {.tv_sec = 0, .tv_nsec = 100'000'000};
  const int signal = sigtimedwait(&signals, nullptr, &step);
  if (signal > 0) return signal;
  if (taken_ends.exchange(0) > 0) return SIGTERM;
  return taken_reloads.exchange(0) > 0 ? SIGHUP : 0;
}

}  // namespace

ServeSignals::ServeSignals() {
  const sigset_t signals = served_signals();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  struct sigaction action {};
  action.sa_handler = on_taken;
  action.sa_flags = SA_RESTART;
  for (std::size_t k = 0; k < before_.size(); ++k) sigaction(served[k], &action, &before_[k]);
}

ServeSignals::~ServeSignals() {
  end();
  for (std::size_t k = 0; k < before_.size(); ++k) sigaction(served[k], &before_[k], nullptr);
  const sigset_t signals = served_signals();
  pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);
}

void ServeSignals::pass_to(serve::Server& server, std::function<void()> now_and_then) {
  waiting_ = std::thread([this, &server, now_and_then = std::move(now_and_then)] {
    const sigset_t signals = served_signals();
    bool draining = false;
    while (!ended_) {
      const int signal = next_signal(signals);
      if (signal == SIGHUP) {
        server.reload();
      } else if (signal > 0) {
        draining ? server.stop() : server.drain();
        draining = true;
      } else {
        now_and_then();
      }
    }
  });
}

void ServeSignals::end() {
  ended_ = true;
  if (waiting_.joinable()) waiting_.join();
}

}  // namespace poise::app
