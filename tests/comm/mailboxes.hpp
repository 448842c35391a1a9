#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "poise/comm/processes.hpp"

namespace poise::testing {

/// Messages between threads, each of which stands for a process.
class Mailboxes {
 public:
  explicit Mailboxes(int size) : boxes(static_cast<std::size_t>(size)) {}

  struct Box {
    std::map<Channel, std::deque<Message>> messages;
    bool finished = false;
    std::optional<int> aborted;
  };
  std::mutex mutex;
  std::vector<Box> boxes;
};

class MailboxTransport : public Transport {
 public:
  MailboxTransport(Mailboxes& all, int rank) : all_(all), rank_(rank) {}

  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int size() const override { return static_cast<int>(all_.boxes.size()); }
  [[nodiscard]] std::string library() const override { return "mailboxes"; }

  void send(int to, Channel channel, Bytes bytes) override {
    const std::lock_guard lock(all_.mutex);
    all_.boxes.at(static_cast<std::size_t>(to)).messages[channel].push_back({rank_, *bytes});
  }

  std::optional<Message> poll(std::optional<int> from, Channel channel) override {
    const std::lock_guard lock(all_.mutex);
    auto& waiting = box().messages[channel];
    for (auto each = waiting.begin(); each != waiting.end(); ++each) {
      if (from && each->from != *from) continue;
      Message message = std::move(*each);
      waiting.erase(each);
      return message;
    }
    return {};
  }

  void finish() override {
    const std::lock_guard lock(all_.mutex);
    box().finished = true;
  }
  void abort(int code) override {
    const std::lock_guard lock(all_.mutex);
    box().aborted = code;
  }

 private:
  Mailboxes::Box& box() { return all_.boxes.at(static_cast<std::size_t>(rank_)); }

  Mailboxes& all_;
  int rank_;
};

/// Runs `work` as each of so many processes at the same time.
inline void as_processes(int size, const std::function<void(Processes&)>& work) {
  Mailboxes all(size);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < size; ++rank) {
    threads.emplace_back([&, rank] {
      Processes processes(std::make_unique<MailboxTransport>(all, rank));
      work(processes);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace poise::testing
