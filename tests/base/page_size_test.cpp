#include "poise/base/page_size.hpp"

#include <cstdint>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "poise/linalg/large_pages.hpp"

namespace poise {
namespace {

constexpr std::size_t large_page = std::size_t{1} << 21U;

/// Whether the mapping of an address has this flag: "hg" was asked for large pages, "nh" for small ones.
bool has_flag(const void* address, const std::string& flag) {
  std::ifstream maps("/proc/self/smaps");
  const auto wanted = reinterpret_cast<std::uintptr_t>(address);
  bool inside = false;
  for (std::string line; std::getline(maps, line);) {
    std::uintptr_t first = 0;
    std::uintptr_t last = 0;
    char dash = 0;
    std::istringstream range(line);
    if (range >> std::hex >> first >> dash >> last && dash == '-') inside = first <= wanted && wanted < last;
    if (inside && line.starts_with("VmFlags:"))
      return (line + " ").find(" " + flag + " ") != std::string::npos;
  }
  ADD_FAILURE() << "no mapping has this address";
  return false;
}

TEST(PageSize, LargePagesStayWhereTheyAreFast) {
  constexpr std::size_t pages = 80;
  std::vector<char, LargePages<char>> memory(pages * large_page + 5);
  std::vector<std::size_t> touched;
  choose_page_size(memory.data(), memory.size(), [&](volatile char* byte) {
    touched.push_back(static_cast<std::size_t>(const_cast<char*>(byte) - memory.data()) / large_page);
    return touched.back() == 2 ? 1.0 : 0.0;
  });
  EXPECT_EQ(touched, (std::vector<std::size_t>{0, 1, 2, 67, 68, 69, 70, 71, 72, 73, 74, 75, 76, 77, 78}));
  if (!has_flag(memory.data(), "hg")) GTEST_SKIP() << "the system has no large pages";
  for (std::size_t page = 0; page < pages; ++page)
    EXPECT_TRUE(has_flag(memory.data() + page * large_page, page > 2 && page < 67 ? "nh" : "hg")) << page;
}

TEST(PageSize, OnlyWholePagesOfTheMemoryAreTouched) {
  std::vector<char, LargePages<char>> memory(8 * large_page, 'x');
  char* const begin = memory.data() + 100;
  for (const std::size_t bytes :
       {std::size_t{0}, std::size_t{100}, large_page, 3 * large_page, 5 * large_page}) {
    choose_page_size(begin, bytes, [&](volatile char* byte) {
      const auto at = static_cast<std::size_t>(const_cast<char*>(byte) - begin);
      EXPECT_LE(at + 2 * large_page, bytes);
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(byte) % large_page, 0U);
      return 1.0;
    });
  }
  EXPECT_EQ(memory.back(), 'x');
  EXPECT_GE(time_of_first_touch(memory.data()), 0.0);
  EXPECT_EQ(memory.front(), 0);
}

}  // namespace
}  // namespace poise
