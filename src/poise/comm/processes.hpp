#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "poise/base/error.hpp"
#include "poise/base/observer.hpp"
#include "poise/comm/pulse.hpp"
#include "poise/comm/transport.hpp"

namespace poise {

/// Thrown by a call that waits when another process of the job has failed. The job's sentence is that one's.
class OtherProcessFailed : public Error {
 public:
  OtherProcessFailed() : Error(ErrorKind::resources, "another process of the job has failed") {}
};

/// How a process, or the job, ends: an exit code and, unless it is 0, a sentence.
struct Outcome {
  int code = 0;
  std::string sentence = {};
  /// Not an end of its own: another process has failed. There is no sentence then.
  bool because_of_other = false;
  /// The process was asked to stop. It may still be saving something, so it is not ended by force.
  bool interrupted = false;
};

/// The processes that run one command together; usually there is one, and the same code runs without any
/// message. Each has a rank, and the first one (rank 0) prints and writes. One thread calls this at a time.
///
/// No call waits for ever: a process that fails sends a message to all others, and a call that waits then
/// throws OtherProcessFailed. Waiting costs little processor time: it spins for some microseconds and then
/// sleeps.
class Processes {
 public:
  /// One process, without a launcher.
  Processes() = default;
  /// As a launcher started them; null is one process.
  explicit Processes(std::unique_ptr<Transport> transport);

  [[nodiscard]] bool launched() const { return launched_; }
  [[nodiscard]] int rank() const { return transport_ ? transport_->rank() : 0; }
  [[nodiscard]] int size() const { return transport_ ? transport_->size() : 1; }
  [[nodiscard]] bool first() const { return rank() == 0; }
  [[nodiscard]] bool several() const { return size() > 1; }
  /// The library between them; empty without MPI.
  [[nodiscard]] std::string library() const { return transport_ ? transport_->library() : ""; }

  /// Waiting ends with Error{interrupted} when this observer asks to stop; null: it does not.
  void watch(const Observer* observer) { observer_ = observer; }

  /// From now on ends the job where a process is silent for longer than a limit; nothing for one process.
  void end_if_silent(Pulse::Options options);

  /// Returns at once.
  void send(int to, std::string bytes) { send(to, shared_bytes(std::move(bytes))); }
  void send(int to, Bytes bytes);
  /// The next message, of one sender or of any; waits for it.
  Message receive(std::optional<int> from = {});
  /// The next message of any sender, if there is one.
  std::optional<Message> poll();
  /// Waits until what was sent has left, so that nobody waits for it while this process computes: MPI moves
  /// large messages only while somebody calls it. Until then their bytes take memory.
  void flush();

  /// The first process' bytes, at all of them. Costs log2 P messages one after the other.
  std::string broadcast(std::string bytes);
  /// The same among some processes, of which this is one: the bytes of the first of `ranks`.
  Bytes broadcast(Bytes bytes, std::span<const int> ranks);
  /// Waits for all.
  void meet() { static_cast<void>(all_gather({})); }
  /// For work without messages: ends it if another process has failed, or the observer asks to stop.
  void look();
  /// Everyone's bytes in the order of ranks, at the first process; empty at the others.
  std::vector<std::string> gather(std::string bytes);
  /// The same at all of them.
  std::vector<std::string> all_gather(std::string bytes);

  /// The end of the job, which every process calls once, with its own outcome. The first process returns the
  /// outcome of the job: its own failure, or the failure of the lowest rank, named in the sentence. The
  /// others return its code. Processes that do not answer a failure for `patience` are ended by force:
  /// `print` is called before with the sentence, if this process is the one to say it.
  using Seconds = std::chrono::duration<double>;
  Outcome conclude(Outcome own, const std::string& host, void (*print)(const std::string& sentence),
                   Seconds patience = Seconds(10));

 private:
  struct Report {
    Outcome outcome;
    std::string host;
  };
  using Deadline = std::optional<std::chrono::steady_clock::time_point>;

  std::optional<Message> poll_outcome();
  void look_for_failure();
  template <class Ready>
  auto wait_for(const Ready& ready, const Deadline& deadline);
  Outcome conclude_first(const Outcome& own, void (*print)(const std::string&), Seconds patience);
  Outcome conclude_other(const Outcome& own, void (*print)(const std::string&), Seconds patience);

  std::unique_ptr<Transport> transport_;
  std::unique_ptr<Pulse> pulse_;
  const Observer* observer_ = nullptr;
  bool launched_ = false;
  std::map<int, Report> reports_;  ///< how others ended, as far as they have said so
  std::optional<int> ended_;       ///< the job's code, as the first process says it
};

}  // namespace poise
