#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace poise {

/// What a message is about. Messages of one sender on one channel arrive in the order in which they were
/// sent.
enum class Channel : std::uint8_t { work, outcome, pulse };

struct Message {
  int from = 0;
  std::string bytes;
};

/// A message on its way to any number of others, which is held once.
using Bytes = std::shared_ptr<const std::string>;
inline Bytes shared_bytes(std::string bytes) { return std::make_shared<const std::string>(std::move(bytes)); }

/// Messages between the processes of a job, without any waiting. comm/mpi implements it over MPI as a plug-in
/// (comm/plugin.hpp); tests have one between threads. Several threads may call it.
class Transport {
 public:
  Transport() = default;
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;
  virtual ~Transport() = default;

  [[nodiscard]] virtual int rank() const = 0;
  [[nodiscard]] virtual int size() const = 0;
  /// The library that carries the messages, e.g. "Open MPI 4.1.4".
  [[nodiscard]] virtual std::string library() const = 0;

  /// Returns at once; bytes of any number are on their way.
  virtual void send(int to, Channel channel, Bytes bytes) = 0;
  /// The next message that has arrived, of one sender or of any; none if there is none yet.
  virtual std::optional<Message> poll(std::optional<int> from, Channel channel) = 0;
  /// Whether every message has left, so that its bytes are not held here any more. Large ones leave while the
  /// transport is called.
  [[nodiscard]] virtual bool all_sent() { return true; }

  /// The end of the job in good order; every process calls it.
  virtual void finish() = 0;
  /// Ends all processes of the job with this exit code; for those that do not answer.
  virtual void abort(int code) = 0;
};

}  // namespace poise
