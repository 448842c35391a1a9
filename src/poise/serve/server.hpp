#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "poise/serve/service.hpp"

namespace poise::serve {

enum class Watch { no, yes };

struct ServerOptions {
  std::string host = "127.0.0.1";  ///< an address, or localhost
  std::uint16_t port = 8080;       ///< 0: one that is free
  int threads = 2;                 ///< workers, each of which answers one request at a time
  Watch watch = Watch::no;         ///< reload models whose files change
  /// Receives messages for whoever runs the server; several threads call it at once.
  std::function<void(const std::string&)> say = [](const std::string&) {};
};

/// Carries a service to the network: HTTP/1.1 over TCP, a fixed pool of workers, and limits on how long
/// clients may take. drain(), stop() and reload() may be called from any thread.
class Server {
 public:
  /// Listens from now on; Error{resources} if the address is taken, Error{usage} if it is none.
  Server(Service& service, ServerOptions options);
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  ~Server();

  [[nodiscard]] std::uint16_t port() const;
  /// Answers until drain() or stop(). Returns when every connection is closed.
  void run();
  /// Accepts no further connections, answers every request that is there or still comes in the next moments,
  /// closes connections as they fall idle, and lets run() return, after the drain timeout in any case.
  void drain();
  /// Lets run() return at once.
  void stop();
  /// Reads the models again beside the workers, and says what became of each.
  void reload();

 private:
  struct Network;
  std::unique_ptr<Network> network_;
};

}  // namespace poise::serve
