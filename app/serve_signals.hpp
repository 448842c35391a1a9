#pragma once

#include <atomic>
#include <thread>

#include "poise/serve/server.hpp"

namespace poise::app {

/// Signals of a server: SIGTERM and Ctrl-C drain it, a second one stops it at once, SIGHUP reloads. The
/// calling thread and those it starts later take none of them; a thread of its own waits for them.
class ServeSignals {
 public:
  ServeSignals();
  ServeSignals(const ServeSignals&) = delete;
  ServeSignals& operator=(const ServeSignals&) = delete;
  ~ServeSignals();

  /// From now on; signals that came before count. The server must live until end().
  void pass_to(serve::Server& server);
  void end();

 private:
  std::atomic<bool> ended_ = false;
  std::thread waiting_;
};

}  // namespace poise::app
