#pragma once

#include <cstdint>
#include <string_view>

#include "poise/base/observer.hpp"

namespace poise {

/// Passes everything on to another observer, except that a request to stop waits until the end of a round, or
/// of a block of columns, that a checkpoint keeps.
class RoundObserver : public Observer {
 public:
  explicit RoundObserver(Observer* other) : other_(other) {}
  void start(std::string_view task, std::uint64_t total, std::string_view unit) override {
    if (other_ != nullptr) other_->start(task, total, unit);
  }
  void advance(std::uint64_t amount) override {
    if (other_ != nullptr) other_->advance(amount);
  }
  void finish() override {
    if (other_ != nullptr) other_->finish();
  }
  [[nodiscard]] bool stop_requested() const override { return !in_round && asked(); }
  [[nodiscard]] bool asked() const { return other_ != nullptr && other_->stop_requested(); }

  bool in_round = false;

 private:
  Observer* other_;
};

}  // namespace poise
