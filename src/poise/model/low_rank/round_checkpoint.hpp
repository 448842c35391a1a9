#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "poise/comm/processes.hpp"
#include "poise/model/low_rank/round_state.hpp"
#include "poise/model/round_observer.hpp"

namespace poise {

/// The state of an alternating fit on disk, every few rounds: a container (storage/container.hpp) that
/// appears whole or not at all. Training that was interrupted, or killed, goes on behind that round and gives
/// the same bytes, also with another number of processes. Several processes, which all have the same state,
/// call it together; the first one reads and writes.
class RoundCheckpoint {
 public:
  /// `key` is all that decides what the rounds compute. If the observer is a RoundObserver, a request to stop
  /// ends the round first.
  RoundCheckpoint(std::filesystem::path folder, std::string key, Processes* processes, Observer* observer);

  /// The state that was saved last; none where there is none or it is damaged. Error{usage} where the folder
  /// holds that of another training.
  [[nodiscard]] std::optional<RoundState> load() const;
  void begin_round();
  /// After a round: saves its state if that is due, or if a process is asked to stop; then
  /// Error{interrupted}.
  void end_round(int number, const std::function<RoundState()>& state);

  /// The rounds that a folder holds; 0 if there are none.
  static std::int64_t rounds_in(const std::filesystem::path& folder);
  /// Removes the file, and the folder where nothing else lies in it.
  static void remove(const std::filesystem::path& folder);

 private:
  void save(int number, const RoundState& state) const;
  [[nodiscard]] bool anybody_stops() const;

  std::filesystem::path folder_;
  std::string key_;
  Processes* processes_;
  RoundObserver* observer_;
  std::chrono::steady_clock::time_point saved_ = std::chrono::steady_clock::now();
};

}  // namespace poise
