#include "exclude_pairs.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "poise/base/error.hpp"
#include "poise/data/log_reader.hpp"

#include "input_files.hpp"

namespace poise::app {

namespace {

/// The numbers that another list of ids has for each of these; none where it lacks one.
std::vector<std::optional<std::int32_t>> numbers_in(const ItemIndex& index, const Ids& ids) {
  std::vector<std::optional<std::int32_t>> numbers(ids.size());
  for (std::int64_t k = 0; k < ids.size(); ++k) numbers[k] = index.find(ids[k]);
  return numbers;
}

}  // namespace

void exclude_pairs(const std::filesystem::path& path, const ItemIndex& items, RecommendHistories& to,
                   const Context& context) {
  LogOptions options;
  options.format = resolve_log_format({path}, options);
  if (options.format == LogFormat::pro_sg)
    fail(ErrorKind::input,
         "{} is a folder of the pro-sg layout; --exclude-pairs takes a log of user,item rows", path.string());
  const Interactions log = read_log({path}, options, context.execution);
  const auto rows = numbers_in(ItemIndex(to.users), log.users);
  const auto numbers = numbers_in(items, log.items);
  std::vector<std::vector<std::int32_t>> added(to.histories.rows);
  std::int64_t of_others = 0;
  std::int64_t unknown = 0;
  for (std::int64_t row = 0; row < log.rows(); ++row) {
    const auto user = rows[log.user[row]];
    const auto item = numbers[log.item[row]];
    of_others += user ? 0 : 1;
    unknown += user && !item ? 1 : 0;
    if (user && item) added[*user].push_back(*item);
  }
  Csr seen{.rows = to.histories.rows, .cols = to.histories.cols, .offsets = {0}};
  for (std::int64_t row = 0; row < seen.rows; ++row) {
    std::vector<std::int32_t>& own = added[row];
    std::ranges::sort(own);
    own.erase(std::unique(own.begin(), own.end()), own.end());
    std::ranges::set_union(to.seen.view().row(row), own, std::back_inserter(seen.indices));
    seen.offsets.push_back(seen.entries());
  }
  to.seen = std::move(seen);
  const auto say = [&](std::int64_t count, std::string_view what) {
    if (count > 0) context.say(fmt::format("{}: {} {}", path.string(), grouped(count), what));
  };
  say(of_others, "rows are of users without a history in --histories");
  say(unknown, "rows skipped: the model does not know their items");
}

}  // namespace poise::app
