#pragma once

#include <array>
#include <atomic>
#include <csignal>
#include <functional>
#include <thread>

#include "poise/serve/server.hpp"

namespace poise::app {

/// Signals of a server: SIGTERM and Ctrl-C drain it, a second one stops it at once, SIGHUP reloads. The
/// calling thread and those it starts later take none of them; a thread of its own waits for them, and for
/// those that threads from before took.
class ServeSignals {
 public:
  ServeSignals();
  ServeSignals(const ServeSignals&) = delete;
  ServeSignals& operator=(const ServeSignals&) = delete;
  ~ServeSignals();

  /// From now on; signals that came before count. Between signals it calls `now_and_then`, ten times a
  /// second. The server must live until end().
  void pass_to(serve::Server& server, std::function<void()> now_and_then);
  void end();

 private:
  std::atomic<bool> ended_ = false;
  std::thread waiting_;
  std::array<struct sigaction, 3> before_ = {};  ///< what the signals did before
};

}  // namespace poise::app
