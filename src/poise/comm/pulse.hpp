#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "poise/comm/transport.hpp"

namespace poise {

/// Ends a job of which a process has fallen silent: stopped, its host hanging or cut off. A thread of each
/// process tells the first one several times within the limit that it runs, however long its computations
/// take, and the first one tells all others. Whoever hears nothing for the limit calls `print` with a
/// sentence that names the silent process, and ends the job by force: the first process on behalf of all; if
/// it is itself the silent one, the second, and after twice the limit any other.
class Pulse {
 public:
  struct Options {
    std::chrono::duration<double> limit;
    std::vector<std::string> hosts;  ///< of all ranks
    int code = 1;                    ///< of the exit
    void (*print)(const std::string& sentence) = nullptr;
  };
  /// The transport must outlive it, and take calls of several threads.
  Pulse(Transport& transport, Options options);
  Pulse(const Pulse&) = delete;
  Pulse& operator=(const Pulse&) = delete;
  ~Pulse();

 private:
  using Clock = std::chrono::steady_clock;
  void run();
  void tell();
  void listen();
  [[nodiscard]] bool find_silent();

  Transport& transport_;
  Options options_;
  std::vector<Clock::time_point> heard_;  ///< when each rank was heard last
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stopped_ = false;
  std::thread thread_;
};

}  // namespace poise
