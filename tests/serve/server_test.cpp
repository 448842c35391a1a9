#include "poise/serve/server.hpp"

#include <future>
#include <new>
#include <thread>
#include <utility>  // before Asio, which needs std::exchange and does not include it

#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <gtest/gtest.h>

namespace poise::serve {
namespace {

namespace asio = boost::asio;

/// A client that asks whether the server lives.
class Client {
 public:
  explicit Client(const Server& server) : socket_(io_) {
    socket_.connect({asio::ip::make_address("127.0.0.1"), server.port()});
    const std::string request = "GET /v1/livez HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    asio::write(socket_, asio::buffer(request));
  }
  /// The first line of the answer; empty where the server closes without one.
  std::string status_line() {
    std::string text;
    boost::system::error_code end;
    asio::read(socket_, asio::dynamic_buffer(text), end);
    return text.substr(0, text.find('\r'));
  }

 private:
  asio::io_context io_;
  asio::ip::tcp::socket socket_;
};

/// A server without models and with one worker. Its log runs this for each answer, which holds the worker up.
class OneWorker {
 public:
  explicit OneWorker(std::function<void()> log)
      : models_(ModelSet()),
        service_(models_, options_of(std::move(log))),
        server_(service_, {.port = 0, .threads = 1}),
        thread_([this] { server_.run(); }) {}
  OneWorker(const OneWorker&) = delete;
  OneWorker& operator=(const OneWorker&) = delete;
  ~OneWorker() {
    server_.drain();
    thread_.join();
  }
  Server& server() { return server_; }
  Service& service() { return service_; }

 private:
  static ServiceOptions options_of(std::function<void()> log) {
    ServiceOptions options;
    options.limits.header_timeout = 0.1;
    options.access_log = [log = std::move(log)](std::string_view) { log(); };
    return options;
  }

  Models models_;
  Service service_;
  Server server_;
  std::thread thread_;
};

TEST(Server, AnswersAConnectionThatWasMadeJustBeforeItDrains) {
  std::promise<void> busy;
  std::promise<void> free;
  std::shared_future<void> freed = free.get_future();
  int answers = 0;
  OneWorker one([&] {
    if (answers++ > 0) return;
    busy.set_value();
    freed.wait();
  });
  Client first(one.server());
  busy.get_future().wait();
  // The worker will find this connection and the drain at once.
  Client second(one.server());
  one.server().drain();
  free.set_value();
  EXPECT_EQ(first.status_line(), "HTTP/1.1 200 OK");
  EXPECT_EQ(second.status_line(), "HTTP/1.1 200 OK");
}

TEST(Server, ARequestThatFailsTakesNoOtherAlong) {
  int answers = 0;
  OneWorker one([&] {
    if (answers++ == 0) throw std::bad_alloc();
  });
  EXPECT_EQ(Client(one.server()).status_line(), "");
  EXPECT_EQ(Client(one.server()).status_line(), "HTTP/1.1 200 OK");
  EXPECT_NE(one.service().metrics().text({}).find("reason=\"internal_error\"} 1"), std::string::npos);
}

}  // namespace
}  // namespace poise::serve
