#include "poise/comm/processes.hpp"

#include <algorithm>
#include <numeric>
#include <sstream>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "poise/comm/packed.hpp"

namespace poise {
namespace {

using Clock = std::chrono::steady_clock;

/// What passes between two looks at the network: nothing at first, as most answers come within microseconds.
class Pause {
 public:
  void operator()() {
    if (++looks_ < busy_looks)
      std::this_thread::yield();
    else
      std::this_thread::sleep_for(looks_ < short_looks ? std::chrono::microseconds(50)
                                                       : std::chrono::microseconds(1000));
  }

 private:
  static constexpr int busy_looks = 200;
  static constexpr int short_looks = 1000;
  int looks_ = 0;
};

constexpr char report_mark = 'r';
constexpr char end_mark = 'e';

std::string packed_report(const Outcome& outcome, const std::string& host) {
  return packed({std::string(1, report_mark), fmt::format("{}", outcome.code), outcome.sentence, host,
                 outcome.because_of_other ? "1" : "", outcome.interrupted ? "1" : ""});
}

bool failed(const Outcome& outcome) { return outcome.code != 0 && !outcome.because_of_other; }

}  // namespace

Processes::Processes(std::unique_ptr<Transport> transport)
    : transport_(std::move(transport)), launched_(true) {}

/// Waits until ready() returns something; at the deadline it returns that nothing.
template <class Ready>
auto Processes::wait_for(const Ready& ready, const Deadline& deadline) {
  for (Pause pause;; pause()) {
    auto found = ready();
    if (found || (deadline && Clock::now() > *deadline)) return found;
  }
}

/// Takes what others say about how they, or the job, ended.
std::optional<Message> Processes::poll_outcome() {
  auto message = transport_->poll({}, Channel::outcome);
  if (!message) return {};
  const std::vector<std::string> parts = unpacked(message->bytes);
  if (parts.at(0).at(0) == end_mark) {
    ended_ = std::stoi(parts.at(1));
  } else {
    reports_[message->from] = {.outcome = {.code = std::stoi(parts.at(1)),
                                           .sentence = parts.at(2),
                                           .because_of_other = !parts.at(4).empty(),
                                           .interrupted = !parts.at(5).empty()},
                               .host = parts.at(3)};
  }
  return message;
}

void Processes::look_for_failure() {
  while (poll_outcome()) {
  }
  const auto has_failed = [](const auto& report) { return report.second.outcome.code != 0; };
  if (ended_ || std::ranges::any_of(reports_, has_failed)) throw OtherProcessFailed();
}

void Processes::look() {
  if (transport_) look_for_failure();
  stop_if_asked(observer_);
}

void Processes::send(int to, Bytes bytes) { transport_->send(to, Channel::work, std::move(bytes)); }

std::optional<Message> Processes::poll() {
  if (!transport_) return {};
  auto message = transport_->poll({}, Channel::work);
  if (!message) look();
  return message;
}

void Processes::flush() {
  if (!transport_) return;
  const auto left = [&] {
    if (transport_->all_sent()) return true;
    look();
    return false;
  };
  wait_for(left, {});
}

void Processes::end_if_silent(Pulse::Options options) {
  if (several()) pulse_ = std::make_unique<Pulse>(*transport_, std::move(options));
}

Message Processes::receive(std::optional<int> from) {
  const auto arrived = [&] {
    auto message = transport_->poll(from, Channel::work);
    if (!message) look();
    return message;
  };
  return *wait_for(arrived, {});
}

std::string Processes::broadcast(std::string bytes) {
  std::vector<int> all(static_cast<std::size_t>(size()));
  std::iota(all.begin(), all.end(), 0);
  if (all.size() == 1) return bytes;
  return *broadcast(shared_bytes(std::move(bytes)), all);
}

Bytes Processes::broadcast(Bytes bytes, std::span<const int> ranks) {
  // A binomial tree over places in the list: place p receives from p without its lowest bit and passes on to
  // the places below that bit.
  const auto place = static_cast<std::size_t>(std::ranges::find(ranks, rank()) - ranks.begin());
  std::size_t below = 1;
  while (below < ranks.size() && (place & below) == 0) below *= 2;
  if (place > 0) bytes = shared_bytes(receive(ranks[place - below]).bytes);
  for (below /= 2; below > 0; below /= 2) {
    if (place + below < ranks.size()) send(ranks[place + below], bytes);
  }
  return bytes;
}

std::vector<std::string> Processes::gather(std::string bytes) {
  if (!first()) {
    send(0, std::move(bytes));
    return {};
  }
  std::vector<std::string> all = {std::move(bytes)};
  for (int other = 1; other < size(); ++other) all.push_back(receive(other).bytes);
  return all;
}

std::vector<std::string> Processes::all_gather(std::string bytes) {
  const std::vector<std::string> all = gather(std::move(bytes));
  return unpacked(broadcast(first() ? packed(all) : std::string()));
}

Outcome Processes::conclude(Outcome own, const std::string& host, void (*print)(const std::string&),
                            Seconds patience) {
  if (!transport_) return own;
  const Bytes report = shared_bytes(packed_report(own, host));
  for (int other = 0; other < size(); ++other) {
    // Whoever has failed tells everybody; the first process hears of all.
    if (other != rank() && (other == 0 || failed(own))) transport_->send(other, Channel::outcome, report);
  }
  Outcome outcome = first() ? conclude_first(own, print, patience) : conclude_other(own, print, patience);
  pulse_.reset();
  transport_->finish();
  return outcome;
}

Outcome Processes::conclude_first(const Outcome& own, void (*print)(const std::string&), Seconds patience) {
  Outcome job = own;
  Deadline deadline;
  const auto all_ended = [&] {
    while (poll_outcome()) {
    }
    if (own.code == 0) stop_if_asked(observer_);
    const bool failure = own.code != 0 || std::ranges::any_of(reports_, [](const auto& report) {
                           return report.second.outcome.code != 0;
                         });
    if (failure && !deadline) deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(patience);
    return std::ssize(reports_) + 1 == size();
  };
  const bool all = wait_for([&] { return all_ended() || (deadline && Clock::now() > *deadline); }, {}) &&
                   std::ssize(reports_) + 1 == size();
  if (!failed(own)) {
    const auto found =
        std::ranges::find_if(reports_, [](const auto& report) { return failed(report.second.outcome); });
    if (found != reports_.end()) {
      job = found->second.outcome;
      job.sentence = fmt::format("rank {} on {}: {}", found->first, found->second.host, job.sentence);
    }
  }
  if (job.code != 0) print(job.sentence);
  const Bytes end = shared_bytes(packed({std::string(1, end_mark), fmt::format("{}", job.code)}));
  for (int other = 1; other < size(); ++other) transport_->send(other, Channel::outcome, end);
  if (!all) transport_->abort(job.code);
  return job;
}

Outcome Processes::conclude_other(const Outcome& own, void (*print)(const std::string&), Seconds patience) {
  Deadline deadline;
  // The first process answers once it has heard of all, for which it may need its own patience.
  if (failed(own) && !own.interrupted)
    deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(2 * patience);
  wait_for(
      [&] {
        while (poll_outcome()) {
        }
        if (!ended_ && own.code == 0) stop_if_asked(observer_);
        return ended_.has_value();
      },
      deadline);
  if (!ended_) {
    print(own.sentence);
    transport_->abort(own.code);
  }
  return {.code = ended_.value_or(own.code), .because_of_other = true};
}

}  // namespace poise
