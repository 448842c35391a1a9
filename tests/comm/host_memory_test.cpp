#include "poise/comm/host_memory.hpp"

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <set>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include "poise/base/memory.hpp"

#include "comm/mailboxes.hpp"

namespace poise {
namespace {

std::vector<std::int32_t> numbers(std::size_t count) {
  std::vector<std::int32_t> values(count);
  for (std::size_t k = 0; k < count; ++k) values[k] = static_cast<std::int32_t>(k * k % 1009);
  return values;
}

TEST(HostMemory, IsWhatEachHad) {
  for (const std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{100'003}}) {
    testing::as_processes(3, [&](Processes& processes) {
      HostArray<std::int32_t> array(numbers(count));
      const std::int32_t* const own = array.view().data();
      array.hold_once(processes);
      EXPECT_TRUE(std::ranges::equal(array.view(), numbers(count)));
      EXPECT_EQ(array.view().data() == own, count == 0);  // it lies elsewhere
      const HostArray<std::int32_t> moved = std::move(array);
      EXPECT_TRUE(std::ranges::equal(moved.view(), numbers(count)));
    });
  }
}

TEST(HostMemory, IsCountedForAllThatHoldIt) {
  const std::vector<std::byte> bytes(std::size_t{1} << 20U, std::byte{7});
  std::mutex mutex;
  std::set<const std::byte*> places;
  testing::as_processes(4, [&](Processes& processes) {
    const HostMemory memory = hold_once(bytes, processes);
    ASSERT_EQ(memory.bytes().size(), bytes.size());
    EXPECT_EQ(memory.elsewhere(), static_cast<std::int64_t>(bytes.size()) / 4 * 3);
    const std::lock_guard lock(mutex);
    places.insert(memory.bytes().data());
  });
  EXPECT_EQ(places.size(), 4U);  // each has mapped it for itself
}

TEST(HostMemory, EachReadsWhatTheOthersHold) {
  testing::as_processes(4, [](Processes& processes) {
    const auto of = [](int rank) { return numbers(static_cast<std::size_t>(1000 * rank)); };
    const std::vector<std::int32_t> own = of(processes.rank());
    const std::vector<HostMemory> all = hold_each(std::as_bytes(std::span(own)), processes);
    ASSERT_EQ(all.size(), 4U);
    EXPECT_TRUE(all[0].bytes().empty());  // it has offered nothing
    for (int rank = 1; rank < 4; ++rank) {
      const HostMemory& each = all[static_cast<std::size_t>(rank)];
      const std::vector<std::int32_t> expected = of(rank);
      EXPECT_TRUE(std::ranges::equal(each.bytes(), std::as_bytes(std::span(expected))));
      const auto size = static_cast<std::int64_t>(each.bytes().size());
      EXPECT_EQ(each.elsewhere(), rank == processes.rank() ? 0 : size);
    }
  });
  testing::as_processes(1, [](Processes& processes) {
    const std::vector<std::int32_t> own = numbers(10);
    EXPECT_TRUE(hold_each(std::as_bytes(std::span(own)), processes).front().bytes().empty());
  });
}

TEST(HostMemory, OneProcessKeepsItsOwn) {
  testing::as_processes(1, [](Processes& processes) {
    HostArray<std::int32_t> array(numbers(10));
    const std::int32_t* const own = array.view().data();
    array.hold_once(processes);
    EXPECT_EQ(array.view().data(), own);
  });
}

TEST(HostMemory, OtherNumbersThanItsOwnAreNotTaken) {
  testing::as_processes(3, [](Processes& processes) {
    for (const bool longer : {false, true}) {
      std::vector<std::int32_t> own = numbers(longer && processes.rank() == 1 ? 1001 : 1000);
      own.front() = !longer && processes.rank() == 1 ? -1 : 5;
      HostArray<std::int32_t> array(own);
      array.hold_once(processes);
      EXPECT_TRUE(std::ranges::equal(array.view(), own));
    }
  });
}

TEST(HostMemory, ThePeakIsOfWhatIsCountedHere) {
  const std::uint64_t before = peak_memory();
  ASSERT_GT(before, std::uint64_t{1} << 20U);
  count_elsewhere(std::int64_t{1} << 20);
  EXPECT_GE(peak_memory(), before);  // that of the time before
  const std::vector<char> touched(std::size_t{256} << 20U, 1);
  const std::uint64_t with = peak_memory();
  count_elsewhere(-(std::int64_t{1} << 20));
  EXPECT_GE(with, before);
  EXPECT_GE(peak_memory(), with);
  EXPECT_EQ(touched.back(), 1);
}

}  // namespace
}  // namespace poise
