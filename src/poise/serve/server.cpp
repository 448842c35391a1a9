#include "poise/serve/server.hpp"

#include <algorithm>
#include <exception>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>

#include "poise/base/error.hpp"
#include "poise/serve/connection.hpp"

namespace poise::serve {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

constexpr std::chrono::milliseconds watch_period{1000};
constexpr std::chrono::milliseconds pause_without_files{100};

tcp::endpoint endpoint_of(const ServerOptions& options) {
  error_code error;
  const std::string host = options.host == "localhost" ? "127.0.0.1" : options.host;
  const asio::ip::address address = asio::ip::make_address(host, error);
  if (error)
    fail(ErrorKind::usage, "{} {} is no address; use e.g. 127.0.0.1, 0.0.0.0 or ::1", "host"_p, options.host);
  return {address, options.port};
}

}  // namespace

struct Server::Network {
  Service& service;
  ServerOptions options;
  std::mutex mutex;  ///< of the two below, which outlive every connection
  std::map<const Connection*, std::weak_ptr<Connection>> connections;
  bool draining = false;
  asio::io_context io;
  asio::thread_pool background{1};
  tcp::acceptor acceptor;  ///< used on its own strand alone
  asio::steady_timer retry;
  asio::steady_timer watch;
  asio::steady_timer drained;
  std::uint16_t port = 0;

  Network(Service& its_service, ServerOptions its_options)
      : service(its_service),
        options(std::move(its_options)),
        io(std::max(1, options.threads)),
        acceptor(asio::make_strand(io)),
        retry(acceptor.get_executor()),
        watch(acceptor.get_executor()),
        drained(acceptor.get_executor()) {
    const tcp::endpoint endpoint = endpoint_of(options);
    error_code error;
    acceptor.open(endpoint.protocol(), error);
    if (!error) acceptor.set_option(tcp::acceptor::reuse_address(true), error);
    if (!error) acceptor.bind(endpoint, error);
    if (!error) acceptor.listen(4096, error);
    if (error)
      fail(ErrorKind::resources, "cannot listen at {} port {}: {}; choose another {}", options.host,
           options.port, error.message(), "port"_p);
    port = acceptor.local_endpoint().port();
  }

  void accept() {
    acceptor.async_accept(asio::make_strand(io), [this](error_code error, tcp::socket socket) {
      if (error != asio::error::operation_aborted && acceptor.is_open()) error ? accept_later() : accept();
      // One that was made just before the acceptor was closed is owed an answer, too.
      if (!error) add(std::move(socket));
    });
  }

  /// There are no files left, usually.
  void accept_later() {
    retry.expires_after(pause_without_files);
    retry.async_wait([this](error_code stopped) {
      if (!stopped) accept();
    });
  }

  void add(tcp::socket socket) {
    const auto work = [this](std::function<void()> task) { asio::post(background, std::move(task)); };
    // The connection's address is its key, which it cannot know before it is made.
    const auto key = std::make_shared<const Connection*>(nullptr);
    bool leaving = false;
    std::shared_ptr<Connection> connection;
    {
      const std::lock_guard lock(mutex);
      if (std::ssize(connections) < service.limits().connections) {
        connection =
            std::make_shared<Connection>(std::move(socket), service, work, [this, key] { remove(*key); });
        *key = connection.get();
        connections.emplace(connection.get(), connection);
        leaving = draining;
      }
    }
    if (connection == nullptr) return turn_away(socket);
    connection->start();
    if (!leaving) return;
    limit_drain();
    connection->drain();
  }

  void turn_away(tcp::socket& socket) {
    const Exchange exchange = service.begin();
    const Response response = service.refuse(
        {503, "too_many_connections", "too many connections are open; try again later"}, exchange);
    service.finished(exchange, response.status, response.body.size());
    error_code ignored;
    socket.non_blocking(true, ignored);
    socket.write_some(asio::buffer(response_bytes(response, AfterAnswer::close, false)), ignored);
    socket.shutdown(tcp::socket::shutdown_both, ignored);
  }

  void remove(const Connection* connection) {
    const std::lock_guard lock(mutex);
    connections.erase(connection);
    if (draining && connections.empty()) asio::post(acceptor.get_executor(), [this] { end_drain(); });
  }

  void end_drain() {
    const std::lock_guard lock(mutex);
    if (connections.empty()) drained.cancel();
  }

  /// Lets run() return in time whatever connections are open.
  void limit_drain() {
    const auto timeout = std::chrono::duration<double>(service.limits().drain_timeout);
    drained.expires_after(std::chrono::duration_cast<asio::steady_timer::duration>(timeout));
    drained.async_wait([this](error_code cancelled) {
      if (cancelled) return;
      options.say("the drain timeout is over; connections that are still open are closed");
      io.stop();
    });
  }

  void begin_drain() {
    if (!acceptor.is_open()) return;
    service.drain();
    // Connections that the system made already are clients that are owed an answer.
    error_code error;
    acceptor.cancel(error);
    acceptor.non_blocking(true, error);
    while (!error) {
      tcp::socket socket(asio::make_strand(io));
      acceptor.accept(socket, error);
      if (!error) add(std::move(socket));
    }
    acceptor.close(error);
    retry.cancel();
    watch.cancel();
    std::vector<std::shared_ptr<Connection>> open;
    {
      const std::lock_guard lock(mutex);
      draining = true;
      for (const auto& [address, weak] : connections) open.push_back(weak.lock());
      if (connections.empty()) return;
    }
    options.say(fmt::format("draining: {} connections are open", open.size()));
    limit_drain();
    for (const auto& connection : open) {
      if (connection != nullptr) connection->drain();
    }
  }

  /// Runs handlers until there are none. One that fails, which want of memory makes it do, takes its
  /// connection along, and no other.
  void work() {
    while (true) {
      try {
        io.run();
        return;
      } catch (const std::exception&) {
        service.metrics().refused("internal_error");
      }
    }
  }

  void report(const std::vector<Reloaded>& outcomes) {
    for (const Reloaded& each : outcomes) {
      service.metrics().reloaded(each.taken);
      options.say(each.taken ? fmt::format("{}: reloaded", each.name)
                             : fmt::format("{}: not reloaded, the model before goes on serving: {}",
                                           each.name, each.problem));
    }
  }

  void look_at_files() {
    watch.expires_after(watch_period);
    watch.async_wait([this](error_code stopped) {
      if (stopped) return;
      asio::post(background, [this] { report(service.models().reload_if_changed()); });
      look_at_files();
    });
  }
};

Server::Server(Service& service, ServerOptions options)
    : network_(std::make_unique<Network>(service, std::move(options))) {}

Server::~Server() {
  network_->background.join();
  // Connections that stop() left end with the context; nobody waits for them.
  const std::lock_guard lock(network_->mutex);
  network_->draining = false;
}

std::uint16_t Server::port() const { return network_->port; }

void Server::run() {
  Network& network = *network_;
  asio::post(network.acceptor.get_executor(), [&network] {
    network.accept();
    if (network.options.watch == Watch::yes) network.look_at_files();
  });
  std::vector<std::thread> workers;
  for (int k = 1; k < network.options.threads; ++k) workers.emplace_back([&network] { network.work(); });
  network.work();
  for (std::thread& worker : workers) worker.join();
  network.background.join();
}

void Server::drain() {
  asio::post(network_->acceptor.get_executor(), [this] { network_->begin_drain(); });
}

void Server::stop() { network_->io.stop(); }

void Server::reload() {
  asio::post(network_->background, [this] { network_->report(network_->service.models().reload()); });
}

}  // namespace poise::serve
