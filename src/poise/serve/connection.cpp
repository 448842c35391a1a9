#include "poise/serve/connection.hpp"

#include <algorithm>
#include <exception>

#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>

namespace poise::serve {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;
using State = RequestReader::State;

constexpr double linger_seconds = 2;
/// How long an idle client has to send what it may just be sending, once the server drains.
constexpr double grace_seconds = 0.5;
constexpr std::chrono::milliseconds longest_tick{1000};

}  // namespace

Connection::Connection(Socket socket, Service& service, Background background, std::function<void()> on_end)
    : socket_(std::move(socket)),
      service_(service),
      background_(std::move(background)),
      on_end_(std::move(on_end)),
      timer_(socket_.get_executor()),
      reader_(service.limits()) {
  ++service_.metrics().connections;
}

Connection::~Connection() {
  --service_.metrics().connections;
  on_end_();
}

void Connection::start() {
  asio::post(socket_.get_executor(), [self = shared_from_this()] {
    error_code ignored;
    self->socket_.set_option(tcp::no_delay(true), ignored);
    self->set_deadline(self->service_.limits().header_timeout);
    self->tick();
    self->read();
  });
}

void Connection::drain() {
  asio::post(socket_.get_executor(), [self = shared_from_this()] {
    self->draining_ = true;
    if (self->phase_ == Phase::reading && self->state_ == State::idle) self->set_deadline(grace_seconds);
  });
}

void Connection::set_deadline(double seconds) {
  deadline_ =
      std::chrono::steady_clock::now() +
      std::chrono::duration_cast<std::chrono::steady_clock::duration>(std::chrono::duration<double>(seconds));
  // The timer looks at the deadline when it fires, so that most requests leave it alone.
  if (timer_.expiry() > deadline_) timer_.cancel();
}

void Connection::tick() {
  timer_.expires_at(std::min(deadline_, std::chrono::steady_clock::now() + longest_tick));
  timer_.async_wait([self = shared_from_this()](error_code) {
    if (!self->socket_.is_open()) return;
    if (std::chrono::steady_clock::now() >= self->deadline_) self->expire();
    if (self->socket_.is_open()) self->tick();
  });
}

void Connection::expire() {
  if (phase_ == Phase::answering) return set_deadline(longest_tick.count() * 1e-3);
  if (phase_ == Phase::reading && state_ == State::idle && draining_ && more_is_here())
    return set_deadline(grace_seconds);
  const bool begun = phase_ == Phase::reading && state_ != State::idle;
  if (!begun) return close();
  refuse({408, "timeout", state_ == State::body ? "the body took too long" : "the headers took too long"},
         true);
}

bool Connection::more_is_here() {
  error_code error;
  return socket_.available(error) > 0 && !error;
}

void Connection::read() {
  phase_ = Phase::reading;
  socket_.async_read_some(asio::buffer(room_),
                          [self = shared_from_this()](error_code error, std::size_t size) {
                            if (self->phase_ != Phase::reading) return;
                            if (error) return self->close();
                            self->reader_.append({self->room_.data(), size});
                            self->proceed();
                          });
}

void Connection::proceed() {
  const State before = state_;
  try {
    state_ = reader_.advance();
  } catch (const Refusal& refusal) {
    if (!exchange_) exchange_ = service_.begin();
    return refuse(refusal, true);
  }
  const Limits& limits = service_.limits();
  if (state_ == State::idle) {
    if (before != State::idle) set_deadline(draining_ ? grace_seconds : limits.idle_timeout);
    return read();
  }
  if (!exchange_) {
    exchange_ = service_.begin();
    if (state_ != State::ready) set_deadline(limits.header_timeout);
  }
  if (state_ == State::head) return read();
  admit_and_answer();
}

void Connection::admit_and_answer() {
  if (!admitted_) {
    try {
      service_.admit(reader_.head(), *exchange_);
    } catch (const Refusal& refusal) {
      // What follows a body that was not read cannot be told from it.
      const bool last = state_ == State::body || !reader_.head().keep_alive;
      if (!last) static_cast<void>(reader_.take());
      return refuse(refusal, last);
    }
    admitted_ = true;
    if (state_ == State::body) return wait_for_body();
  }
  if (state_ == State::body) return read();
  answer(reader_.take());
}

void Connection::wait_for_body() {
  set_deadline(service_.limits().body_timeout);
  if (!reader_.head().expects_continue) return read();
  phase_ = Phase::writing;
  out_ = "HTTP/1.1 100 Continue\r\n\r\n";
  asio::async_write(socket_, asio::buffer(out_), [self = shared_from_this()](error_code error, std::size_t) {
    if (error) return self->close();
    self->read();
  });
}

void Connection::answer(Request request) {
  phase_ = Phase::answering;
  const bool last = !request.head.keep_alive;
  if (exchange_->admitted.endpoint->answered == Answered::at_once)
    return respond(service_.answer(request, *exchange_), last);
  background_([self = shared_from_this(), request = std::move(request), last] {
    Response response = self->service_.answer(request, *self->exchange_);
    asio::post(self->socket_.get_executor(), [self, response = std::move(response), last]() mutable {
      self->respond(std::move(response), last);
    });
  });
}

void Connection::refuse(const Refusal& refusal, bool last) {
  respond(service_.refuse(refusal, *exchange_), last);
}

void Connection::respond(Response response, bool last) {
  phase_ = Phase::writing;
  last_ = last || (draining_ && reader_.empty() && !more_is_here());
  service_.finished(*exchange_, response.status, response.body.size());
  const bool head_only = exchange_->head.method == "HEAD";
  out_ = response_bytes(response, last_ ? AfterAnswer::close : AfterAnswer::keep_open, head_only);
  after_ = std::move(response.after);
  set_deadline(service_.limits().write_timeout);
  asio::async_write(socket_, asio::buffer(out_), [self = shared_from_this()](error_code error, std::size_t) {
    if (error) return self->close();
    self->write_done();
  });
}

void Connection::write_done() {
  std::string().swap(out_);  // an assignment would keep the memory of a long answer
  if (const auto after = std::exchange(after_, {})) {
    try {
      after();
    } catch (...) {
      service_.metrics().refused("shadow");
    }
  }
  exchange_.reset();
  admitted_ = false;
  if (last_) return linger();
  phase_ = Phase::reading;
  proceed();
}

/// Closing with unread bytes would reset the connection, and the client might lose the answer: what still
/// comes is read and thrown away until the client closes too, for a while.
void Connection::linger() {
  phase_ = Phase::lingering;
  error_code ignored;
  socket_.shutdown(tcp::socket::shutdown_send, ignored);
  set_deadline(linger_seconds);
  discard();
}

void Connection::discard() {
  socket_.async_read_some(asio::buffer(room_), [self = shared_from_this()](error_code error, std::size_t) {
    if (error) return self->close();
    self->discard();
  });
}

void Connection::close() {
  error_code ignored;
  socket_.close(ignored);
  timer_.cancel();
}

}  // namespace poise::serve
