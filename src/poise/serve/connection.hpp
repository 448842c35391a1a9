#pragma once

#include <array>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>  // before Asio, which needs std::exchange and does not include it

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>

#include "poise/serve/request_reader.hpp"
#include "poise/serve/service.hpp"

namespace poise::serve {

/// One client: reads requests, answers them in order, and closes when the client takes too long. Its handlers
/// run one at a time, on the strand that is the socket's executor. Keeps itself alive while it has work.
class Connection : public std::enable_shared_from_this<Connection> {
 public:
  using Socket = boost::asio::ip::tcp::socket;
  /// Runs what takes seconds on a thread beside the workers.
  using Background = std::function<void(std::function<void()>)>;

  Connection(Socket socket, Service& service, Background background, std::function<void()> on_end);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection();

  void start();
  /// The server is about to stop. On any thread.
  void drain();

 private:
  using Time = std::chrono::steady_clock::time_point;
  enum class Phase { reading, answering, writing, lingering };

  void read();
  void tick();
  void expire();
  void proceed();
  void admit_and_answer();
  void wait_for_body();
  void answer(Request request);
  void respond(Response response, bool last);
  void write_done();
  void linger();
  void discard();
  void close();
  void set_deadline(double seconds);
  void refuse(const Refusal& refusal, bool last);
  [[nodiscard]] bool more_is_here();

  Socket socket_;
  Service& service_;
  Background background_;
  std::function<void()> on_end_;
  boost::asio::steady_timer timer_;
  RequestReader reader_;
  std::array<char, 4096> room_ = {};
  std::string out_;
  std::function<void()> after_;
  std::optional<Exchange> exchange_;  ///< of the request that is read or answered
  bool admitted_ = false;
  bool last_ = false;  ///< close after this answer
  bool draining_ = false;
  Phase phase_ = Phase::reading;
  RequestReader::State state_ = RequestReader::State::idle;
  Time deadline_;
};

}  // namespace poise::serve
