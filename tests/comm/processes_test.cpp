#include "poise/comm/processes.hpp"

#include <atomic>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "poise/comm/packed.hpp"

#include "comm/mailboxes.hpp"

namespace poise {
namespace {

using ::testing::ElementsAre;
using testing::Mailboxes;
using testing::MailboxTransport;

/// What was printed, by any thread.
std::mutex printed_mutex;
std::vector<std::string> printed;
void print(const std::string& sentence) {
  const std::lock_guard lock(printed_mutex);
  printed.push_back(sentence);
}

/// Runs `work` as each of so many processes, and returns how the job ended for each.
struct Job {
  std::vector<Outcome> outcomes;
  std::vector<Mailboxes::Box> boxes;
};
Job run_as(int size, const std::function<Outcome(Processes&)>& work,
           Processes::Seconds patience = Processes::Seconds(600)) {
  printed.clear();
  Mailboxes all(size);
  Job job{.outcomes = std::vector<Outcome>(static_cast<std::size_t>(size)), .boxes = {}};
  std::vector<std::thread> threads;
  for (int rank = 0; rank < size; ++rank) {
    threads.emplace_back([&, rank] {
      Processes processes(std::make_unique<MailboxTransport>(all, rank));
      Outcome own;
      try {
        own = work(processes);
      } catch (const OtherProcessFailed&) {
        own = {.code = 1, .because_of_other = true};
      } catch (const Error& error) {
        own = {.code = 7, .sentence = error.what()};
      }
      job.outcomes[static_cast<std::size_t>(rank)] =
          processes.conclude(own, "host" + std::to_string(rank), print, patience);
    });
  }
  for (std::thread& thread : threads) thread.join();
  job.boxes = all.boxes;
  return job;
}

std::vector<int> codes(const Job& job) {
  std::vector<int> all;
  for (const Outcome& each : job.outcomes) all.push_back(each.code);
  return all;
}

TEST(Processes, OneProcessNeedsNoMessages) {
  Processes alone;
  EXPECT_FALSE(alone.launched());
  EXPECT_FALSE(alone.several());
  EXPECT_TRUE(alone.first());
  EXPECT_EQ(alone.broadcast("text"), "text");
  EXPECT_THAT(alone.all_gather("text"), ElementsAre("text"));
  EXPECT_EQ(alone.conclude({.code = 3, .sentence = "sentence"}, "host", print).code, 3);
  EXPECT_TRUE(Processes(nullptr).launched());
}

TEST(Processes, EveryoneGathersTheSameInTheOrderOfRanks) {
  for (const int size : {1, 2, 3, 4, 5, 8, 13}) {
    std::atomic<int> right = 0;
    const Job job = run_as(size, [&](Processes& processes) -> Outcome {
      // Bytes of any kind, none included.
      const std::string own(static_cast<std::size_t>(processes.rank()), '\0');
      const std::vector<std::string> all = processes.all_gather(own);
      bool same = std::ssize(all) == size;
      for (int k = 0; same && k < size; ++k) same = all[static_cast<std::size_t>(k)] == std::string(k, '\0');
      same = same && processes.broadcast(processes.first() ? "of the first" : "of others") == "of the first";
      right += same ? 1 : 0;
      return {};
    });
    EXPECT_EQ(right, size);
    EXPECT_THAT(codes(job), ::testing::Each(0));
    for (const auto& box : job.boxes) EXPECT_TRUE(box.finished && !box.aborted);
  }
}

TEST(Processes, AFailureOfOneEndsAllThatWait) {
  for (const int failing : {0, 1, 3}) {
    const Job job = run_as(4, [&](Processes& processes) -> Outcome {
      if (processes.rank() == failing) throw Error(ErrorKind::input, "the file is missing");
      processes.receive((processes.rank() + 1) % 4);  // which nobody sends
      return {};
    });
    EXPECT_THAT(codes(job), ::testing::Each(7)) << failing;
    const std::string who =
        failing == 0 ? "" : "rank " + std::to_string(failing) + " on host" + std::to_string(failing) + ": ";
    EXPECT_THAT(printed, ElementsAre(who + "the file is missing"));
    for (const auto& box : job.boxes) EXPECT_FALSE(box.aborted);
  }
}

TEST(Processes, AFailureOfAllIsSaidOnceAndByTheFirst) {
  const Job job = run_as(3, [](Processes& processes) -> Outcome {
    throw Error(ErrorKind::input, "missing at " + std::to_string(processes.rank()));
  });
  EXPECT_THAT(codes(job), ::testing::Each(7));
  EXPECT_THAT(printed, ElementsAre("missing at 0"));
}

TEST(Processes, TheLowestRankThatFailedIsNamed) {
  const Job job = run_as(4, [](Processes& processes) -> Outcome {
    if (processes.rank() < 2) return {};
    return {.code = processes.rank(), .sentence = "failed"};
  });
  EXPECT_THAT(codes(job), ::testing::Each(2));
  EXPECT_THAT(printed, ElementsAre("rank 2 on host2: failed"));
}

TEST(Processes, OneThatDoesNotAnswerAFailureIsEndedByForce) {
  std::atomic<bool> aborted = false;
  const Job job = run_as(
      3,
      [&](Processes& processes) -> Outcome {
        if (processes.rank() == 1) throw Error(ErrorKind::resources, "the disk is full");
        // Long work, which a real process would be killed in.
        while (processes.rank() == 2 && !aborted) {
          const std::lock_guard lock(printed_mutex);
          aborted = !printed.empty();
        }
        return {};
      },
      Processes::Seconds(0.01));
  EXPECT_THAT(printed, ::testing::Contains(::testing::HasSubstr("the disk is full")));
  EXPECT_TRUE(job.boxes[0].aborted == 7 || job.boxes[1].aborted == 7);
}

class StopsAtOnce : public Observer {
  [[nodiscard]] bool stop_requested() const override { return true; }
};

TEST(Processes, WaitingCanBeInterrupted) {
  const Job job = run_as(2, [](Processes& processes) -> Outcome {
    if (!processes.first()) return {};
    StopsAtOnce observer;
    processes.watch(&observer);
    processes.receive(1);
    return {};
  });
  EXPECT_THAT(codes(job), ::testing::Each(7));
  EXPECT_THAT(printed, ElementsAre("interrupted"));
}

TEST(Packed, PartsOfAnyBytesComeBack) {
  const std::vector<std::string> parts = {"", "a", std::string("\0\n", 2), std::string(1000, 'x')};
  EXPECT_EQ(unpacked(packed(parts)), parts);
  EXPECT_TRUE(unpacked("").empty());
  EXPECT_THROW(unpacked(packed(parts).substr(0, 20)), Error);
  EXPECT_THROW(unpacked("abc"), Error);
}

TEST(Processes, BroadcastsAmongSome) {
  const Job job = run_as(5, [](Processes& processes) {
    const std::vector<int> some = {3, 0, 4, 1};  // the first of the list has the bytes
    if (processes.rank() != 2) {
      EXPECT_EQ(*processes.broadcast(shared_bytes(processes.rank() == 3 ? "text" : ""), some), "text");
    }
    processes.flush();
    processes.meet();
    return Outcome{};
  });
  EXPECT_THAT(codes(job), ElementsAre(0, 0, 0, 0, 0));
}

}  // namespace
}  // namespace poise
