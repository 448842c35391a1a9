#include "work.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "poise/base/error.hpp"

namespace py = pybind11;

namespace poise::python {
namespace {

constexpr std::chrono::milliseconds interval{50};

struct Report {
  std::string task;
  std::uint64_t done = 0;
  std::uint64_t total = 0;
  std::string unit;
};

/// Stores the reports of the work until the caller asks for them.
class Mailbox : public Observer {
 public:
  void start(std::string_view task, std::uint64_t total, std::string_view unit) override {
    const std::lock_guard lock(mutex_);
    now_ = {std::string(task), 0, total, std::string(unit)};
    changed_ = true;
  }
  void advance(std::uint64_t amount) override {
    const std::lock_guard lock(mutex_);
    now_.done += amount;
    changed_ = true;
  }
  void finish() override {
    const std::lock_guard lock(mutex_);
    finished_.push_back(now_);
    changed_ = false;
  }
  [[nodiscard]] bool stop_requested() const override { return stop_.load(std::memory_order_relaxed); }

  void stop() { stop_.store(true, std::memory_order_relaxed); }
  /// The reports since the last call: every task that ended, and the state of the current one.
  std::vector<Report> collect() {
    const std::lock_guard lock(mutex_);
    std::vector<Report> reports = std::move(finished_);
    finished_.clear();
    if (changed_) reports.push_back(now_);
    changed_ = false;
    return reports;
  }

 private:
  std::mutex mutex_;
  Report now_;
  bool changed_ = false;
  std::vector<Report> finished_;
  std::atomic<bool> stop_ = false;
};

/// Throws exceptions of a signal handler or the progress callback.
void attend(const py::object& progress, Mailbox& mailbox) {
  if (PyErr_CheckSignals() != 0) throw py::error_already_set();
  const std::vector<Report> reports = mailbox.collect();
  if (progress.is_none()) return;
  for (const Report& report : reports) progress(report.task, report.done, report.total, report.unit);
}

/// The working thread, and how to wait for it.
class Worker {
 public:
  Worker(const std::function<void(const Execution&)>& body, const Execution& execution) {
    try {
      thread_ = std::thread([this, &body, execution] {
        try {
          body(execution);
        } catch (...) {
          error_ = std::current_exception();
        }
        const std::lock_guard lock(mutex_);
        done_ = true;
        ended_.notify_all();
      });
    } catch (const std::system_error& error) {
      fail(ErrorKind::resources, "cannot start a thread: {}", error.what());
    }
  }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
  ~Worker() {
    if (thread_.joinable()) thread_.join();
  }

  bool wait() {
    std::unique_lock lock(mutex_);
    return ended_.wait_for(lock, interval, [&] { return done_; });
  }
  void join() { thread_.join(); }
  [[nodiscard]] const std::exception_ptr& error() const { return error_; }

 private:
  std::mutex mutex_;
  std::condition_variable ended_;
  bool done_ = false;
  std::exception_ptr error_;
  std::thread thread_;
};

}  // namespace

void run_and_wait(const Calling& calling, const std::function<void(const Execution&)>& body) {
  Mailbox mailbox;
  Execution execution = calling.execution();
  execution.observer = &mailbox;
  std::exception_ptr raised;
  std::exception_ptr failed;
  {
    const py::gil_scoped_release release;
    Worker worker(body, execution);
    while (!worker.wait()) {
      if (raised) continue;
      const py::gil_scoped_acquire acquire;
      try {
        attend(calling.progress, mailbox);
      } catch (const py::error_already_set&) {
        raised = std::current_exception();
        mailbox.stop();
      }
    }
    worker.join();
    failed = worker.error();
  }
  if (!raised && !failed) attend(calling.progress, mailbox);
  if (raised) std::rethrow_exception(raised);
  if (failed) std::rethrow_exception(failed);
}

}  // namespace poise::python
