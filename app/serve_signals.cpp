#include "serve_signals.hpp"

#include <csignal>
#include <ctime>
#include <utility>

#include <pthread.h>

namespace poise::app {

namespace {

sigset_t served_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&signals, signal);
  return signals;
}

}  // namespace

ServeSignals::ServeSignals() {
  const sigset_t signals = served_signals();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
}

ServeSignals::~ServeSignals() {
  end();
  const sigset_t signals = served_signals();
  pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);
}

void ServeSignals::pass_to(serve::Server& server, std::function<void()> now_and_then) {
  waiting_ = std::thread([this, &server, now_and_then = std::move(now_and_then)] {
    const sigset_t signals = served_signals();
    constexpr timespec step = {.tv_sec = 0, .tv_nsec = 100'000'000};
    bool draining = false;
    while (!ended_) {
      const int signal = sigtimedwait(&signals, nullptr, &step);
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
