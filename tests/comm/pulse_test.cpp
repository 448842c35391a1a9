#include "poise/comm/pulse.hpp"

#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "poise/comm/exchange.hpp"

#include "comm/mailboxes.hpp"

namespace poise {
namespace {

using ::testing::HasSubstr;
using testing::Mailboxes;
using testing::MailboxTransport;

std::mutex said_mutex;
std::vector<std::string> said;
void say(const std::string& sentence) {
  const std::lock_guard lock(said_mutex);
  said.push_back(sentence);
}

/// The processes that have a pulse; the others are silent. Waits until one has aborted.
std::vector<int> aborted_by(int size, const std::vector<int>& alive) {
  said.clear();
  Mailboxes all(size);
  std::vector<std::unique_ptr<MailboxTransport>> transports;
  std::vector<std::unique_ptr<Pulse>> pulses;
  for (const int rank : alive) {
    transports.push_back(std::make_unique<MailboxTransport>(all, rank));
    pulses.push_back(std::make_unique<Pulse>(*transports.back(),
                                             Pulse::Options{.limit = std::chrono::duration<double>(0.3),
                                                            .hosts = std::vector<std::string>(size, "there"),
                                                            .code = 4,
                                                            .print = say}));
  }
  std::vector<int> aborted;
  while (aborted.empty()) {
    std::this_thread::yield();
    const std::lock_guard lock(all.mutex);
    for (int rank = 0; rank < size; ++rank) {
      if (all.boxes[static_cast<std::size_t>(rank)].aborted == 4) aborted.push_back(rank);
    }
  }
  return aborted;
}

TEST(Pulse, TheFirstEndsAJobWithASilentProcess) {
  EXPECT_EQ(aborted_by(4, {0, 1, 3}), std::vector{0});
  const std::lock_guard lock(said_mutex);
  ASSERT_FALSE(said.empty());
  EXPECT_THAT(said.front(), HasSubstr("rank 2 on there has been silent for 0.3 s"));
}

TEST(Pulse, TheSecondEndsAJobWhoseFirstIsSilent) {
  EXPECT_EQ(aborted_by(3, {1, 2}), std::vector{1});
  const std::lock_guard lock(said_mutex);
  ASSERT_FALSE(said.empty());
  EXPECT_THAT(said.front(), HasSubstr("rank 0 on there"));
}

TEST(Pulse, NobodyIsSilentWhileAllRun) {
  Mailboxes all(3);
  said.clear();
  {
    std::vector<std::unique_ptr<MailboxTransport>> transports;
    std::vector<std::unique_ptr<Pulse>> pulses;
    for (int rank = 0; rank < 3; ++rank) {
      transports.push_back(std::make_unique<MailboxTransport>(all, rank));
      pulses.push_back(std::make_unique<Pulse>(*transports.back(),
                                               Pulse::Options{.limit = std::chrono::duration<double>(600),
                                                              .hosts = {"a", "b", "c"},
                                                              .code = 4,
                                                              .print = say}));
    }
  }
  for (const auto& box : all.boxes) EXPECT_FALSE(box.aborted);
  EXPECT_TRUE(said.empty());
}

TEST(Exchange, EveryoneHasEverything) {
  for (const int size : {1, 2, 3, 8}) {
    std::mutex mutex;
    int right = 0;
    testing::as_processes(size, [&](Processes& processes) {
      bool same = true;
      for (int time = 0; time < 3; ++time) {
        const auto all =
            exchange(processes, std::string(static_cast<std::size_t>(processes.rank() * time), 'x'));
        same = same && std::ssize(all) == size;
        for (int k = 0; same && k < size; ++k)
          same = std::ssize(all[static_cast<std::size_t>(k)]) == k * time;
      }
      const std::lock_guard lock(mutex);
      right += same ? 1 : 0;
    });
    EXPECT_EQ(right, size);
  }
}

}  // namespace
}  // namespace poise
