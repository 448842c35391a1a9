#include "poise/comm/pulse.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace poise {
namespace {

/// Messages within the limit.
constexpr double beats = 6;

}  // namespace

Pulse::Pulse(Transport& transport, Options options)
    : transport_(transport),
      options_(std::move(options)),
      heard_(static_cast<std::size_t>(transport.size()), Clock::now()),
      thread_([this] { run(); }) {}

Pulse::~Pulse() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

void Pulse::run() {
  const std::chrono::duration<double> interval = options_.limit / beats;
  Clock::time_point last = Clock::now();
  std::unique_lock lock(mutex_);
  while (!wake_.wait_for(lock, interval, [this] { return stopped_; })) {
    tell();
    listen();
    const Clock::time_point now = Clock::now();
    // Whoever was stopped itself has not listened.
    if (now - last > options_.limit / 2) std::ranges::fill(heard_, now);
    last = now;
    if (find_silent()) return;
  }
}

void Pulse::tell() {
  if (transport_.rank() > 0) return transport_.send(0, Channel::pulse, shared_bytes({}));
  for (int other = 1; other < transport_.size(); ++other)
    transport_.send(other, Channel::pulse, shared_bytes({}));
}

void Pulse::listen() {
  while (const auto message = transport_.poll({}, Channel::pulse))
    heard_[static_cast<std::size_t>(message->from)] = Clock::now();
}

bool Pulse::find_silent() {
  const int rank = transport_.rank();
  const int from = rank == 0 ? 1 : 0;
  const int end = rank == 0 ? transport_.size() : 1;
  for (int other = from; other < end; ++other) {
    const auto place = static_cast<std::size_t>(other);
    if (Clock::now() - heard_[place] <= options_.limit * (rank > 1 ? 2 : 1)) continue;
    options_.print(
        fmt::format("rank {} on {} has been silent for {} s: it is stopped, or its host hangs or is "
                    "cut off; start the command again",
                    other, options_.hosts.at(place), options_.limit.count()));
    transport_.abort(options_.code);
    return true;
  }
  return false;
}

}  // namespace poise
