#include "poise/data/resplit.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "poise/base/counter_stream.hpp"
#include "poise/base/error.hpp"
#include "poise/data/attach_features.hpp"
#include "poise/data/dislikes.hpp"
#include "poise/data/split.hpp"

namespace poise {
namespace {

constexpr std::uint64_t resplit_stream = 0x72657370;  // no other code draws from this stream

/// One of the matrices with interactions, and the number of each row's user among all users.
struct Rows {
  const Csr* matrix = nullptr;
  std::vector<std::int32_t> user;
};

/// One number for each user of all parts, in the order of the parts.
class UserNumbers {
 public:
  std::vector<std::int32_t> of(const Ids& ids) {
    std::vector<std::int32_t> numbers;
    numbers.reserve(ids.size());
    for (std::int64_t k = 0; k < ids.size(); ++k) {
      const auto [known, added] = number_.emplace(ids[k], static_cast<std::int32_t>(all_.size()));
      if (added) all_.push_back(ids[k]);
      numbers.push_back(known->second);
    }
    return numbers;
  }
  Ids take() { return std::move(all_); }

 private:
  std::unordered_map<std::string_view, std::int32_t> number_;  // views of the data's own ids
  Ids all_;
};

std::vector<Rows> matrices_of(const Dataset& dataset, UserNumbers& numbers) {
  std::vector<Rows> all = {{&dataset.train, numbers.of(dataset.users)}};
  for (const auto* part : {&dataset.validation, &dataset.test}) {
    if (!*part) continue;
    const std::vector<std::int32_t> users = numbers.of((*part)->users);
    // With the split `given` the histories are the training rows.
    if (dataset.split != SplitKind::given) all.push_back({&(*part)->fold_in, users});
    all.push_back({&(*part)->targets, users});
  }
  return all;
}

/// The rows of these matrices as a log: item by item, then in the order of the matrices.
Interactions log_of_rows(std::span<const Rows> matrices, const Ids& users, const Ids& items) {
  Interactions log;
  log.users = users;
  log.items = items;
  log.reading = "prepared data";
  std::vector<std::int64_t> place(items.size() + 1, 0);
  bool values = false;
  for (const Rows& rows : matrices) {
    for (const std::int32_t item : rows.matrix->indices) ++place[item + 1];
    values = values || !rows.matrix->values.empty();
  }
  std::partial_sum(place.begin(), place.end(), place.begin());
  log.user.resize(place.back());
  log.item.resize(place.back());
  if (values) log.value.resize(place.back());
  for (const Rows& rows : matrices) {
    const CsrView matrix = rows.matrix->view();
    for (std::int64_t r = 0; r < matrix.rows; ++r) {
      for (std::int64_t k = 0; k < matrix.row_size(r); ++k) {
        const std::int32_t item = matrix.row(r)[k];
        const std::int64_t row = place[item]++;
        log.user[row] = rows.user[r];
        log.item[row] = item;
        if (values) log.value[row] = matrix.values.empty() ? 1.0F : matrix.row_values(r)[k];
      }
    }
  }
  return log;
}

/// All dislikes as a log; with the split `given` they are those of training.
Interactions pooled_dislikes(const Dataset& dataset) {
  UserNumbers numbers;
  std::vector<Rows> matrices = {{&dataset.disliked, numbers.of(dataset.users)}};
  for (const auto* part : {&dataset.validation, &dataset.test}) {
    if (*part && dataset.split != SplitKind::given)
      matrices.push_back({&(*part)->disliked, numbers.of((*part)->users)});
  }
  return log_of_rows(matrices, numbers.take(), dataset.items);
}

/// The number of a held-out user's items, and of its targets.
using Drawn = std::pair<std::int64_t, std::int64_t>;

std::int64_t targets_of(double share, std::int64_t items) {
  return items < smallest_split_history ? 0 : static_cast<std::int64_t>(share * static_cast<double>(items));
}

Dataset split_users_again(const Dataset& dataset, std::uint32_t seed, const Execution& execution) {
  const Ids known = items_with_features(dataset);
  Dataset again = split_users(pooled_log(dataset), {.known_items = &known},
                              {.held_out_users = dataset.test->users.size(),
                               .validation_users = dataset.validation->users.size(),
                               .target_share = target_share_of(dataset),
                               .seed = seed},
                              execution);
  const bool as_prepared = again.users == dataset.users &&
                           again.validation->users == dataset.validation->users &&
                           again.test->users == dataset.test->users;
  if (as_prepared) return dataset;
  attach_dislikes(again, pooled_dislikes(dataset), execution);
  carry_features(dataset, again);
  return again;
}

/// Some rows of a log, in its order, with new user numbers: users without a row are left out.
Interactions some_of(const Interactions& log, const std::vector<int>& part_of_row, int part) {
  constexpr std::int32_t nobody = -1;
  std::vector<std::int32_t> number(log.users.size(), nobody);
  for (std::int64_t r = 0; r < log.rows(); ++r) {
    if (part_of_row[r] == part) number[log.user[r]] = 0;
  }
  Interactions some;
  some.items = log.items;
  for (std::int64_t u = 0; u < log.users.size(); ++u) {
    if (number[u] == nobody) continue;
    number[u] = static_cast<std::int32_t>(some.users.size());
    some.users.push_back(log.users[u]);
  }
  for (std::int64_t r = 0; r < log.rows(); ++r) {
    if (part_of_row[r] != part) continue;
    some.user.push_back(number[log.user[r]]);
    some.item.push_back(log.item[r]);
    if (!log.value.empty()) some.value.push_back(log.value[r]);
  }
  return some;
}

constexpr int in_training = 0;
constexpr int in_validation = 1;
constexpr int in_test = 2;

Dataset split_given_again(const Dataset& dataset, std::uint32_t seed, const Execution& execution) {
  UserNumbers numbers;
  const std::vector<Rows> matrices = matrices_of(dataset, numbers);
  const Ids users = numbers.take();
  const Interactions log = log_of_rows(matrices, users, dataset.items);
  // How many rows of validation and test each user has.
  std::array<std::vector<std::int64_t>, 3> size;
  size.fill(std::vector<std::int64_t>(users.size(), 0));
  const auto count = [&](const std::optional<HeldOut>& part, int number) {
    if (!part) return;
    const auto rows = std::ranges::find(matrices, &part->targets, &Rows::matrix);
    for (std::int64_t r = 0; r < part->targets.rows; ++r)
      size[number][rows->user[r]] += part->targets.view().row_size(r);
  };
  count(dataset.validation, in_validation);
  count(dataset.test, in_test);
  std::vector<std::vector<std::int64_t>> rows_of(users.size());
  for (std::int64_t r = 0; r < log.rows(); ++r) rows_of[log.user[r]].push_back(r);
  std::vector<int> part_of_row(log.rows(), in_training);
  for (std::int64_t u = 0; u < users.size(); ++u) {
    CounterStream random(seed, resplit_stream, static_cast<std::uint64_t>(u));
    std::vector<std::int64_t>& rows = rows_of[u];
    const auto total = static_cast<std::int64_t>(rows.size());
    for (std::int64_t k = 0; k < size[in_test][u] + size[in_validation][u]; ++k) {
      std::swap(rows[k], rows[k + random.below(total - k)]);
      part_of_row[rows[k]] = k < size[in_test][u] ? in_test : in_validation;
    }
  }
  const auto part = [&](const std::optional<HeldOut>& held_out, int number) -> std::optional<Interactions> {
    if (!held_out) return std::nullopt;
    return some_of(log, part_of_row, number);
  };
  const Ids known = items_with_features(dataset);
  Dataset again = split_given(some_of(log, part_of_row, in_training), part(dataset.validation, in_validation),
                              part(dataset.test, in_test), execution, &known);
  attach_dislikes(again, pooled_dislikes(dataset), execution);
  carry_features(dataset, again);
  return again;
}

}  // namespace

Interactions pooled_log(const Dataset& dataset) {
  UserNumbers numbers;
  const std::vector<Rows> matrices = matrices_of(dataset, numbers);
  return log_of_rows(matrices, numbers.take(), dataset.items);
}

double target_share_of(const Dataset& dataset) {
  std::set<Drawn> drawn;
  double targets = 0;
  double items = 0;
  for (const auto* part : {&dataset.validation, &dataset.test}) {
    if (!*part) continue;
    for (std::int64_t u = 0; u < (*part)->targets.rows; ++u) {
      const std::int64_t found = (*part)->targets.view().row_size(u);
      const std::int64_t all = (*part)->fold_in.view().row_size(u) + found;
      drawn.emplace(all, found);
      if (all < smallest_split_history) continue;
      targets += static_cast<double>(found);
      items += static_cast<double>(all);
    }
  }
  const auto fits = [&](double share) {
    return std::ranges::all_of(
        drawn, [&](const Drawn& user) { return targets_of(share, user.first) == user.second; });
  };
  if (constexpr double usual = UserSplit{}.target_share; fits(usual)) return usual;
  for (const int parts : {10, 100, 1000, 10000}) {
    for (int k = 1; k < parts; ++k) {
      if (const double share = static_cast<double>(k) / parts; fits(share)) return share;
    }
  }
  return items > 0 && targets > 0 ? targets / items : UserSplit{}.target_share;
}

void check_can_split_again(const Dataset& dataset, const std::string& name) {
  const bool users = dataset.split == SplitKind::users;
  if (!users && dataset.split != SplitKind::given)
    fail(ErrorKind::input,
         "{} was prepared with {} {}, which no seed can draw again; {} needs {} users or given", name,
         "split"_p, to_string(dataset.split), "seeds"_p, "split"_p);
  if (!dataset.test || (users && !dataset.validation))
    fail(ErrorKind::input, "{} lacks a held-out part, so that there is no split to draw again", name);
}

Dataset split_again(const Dataset& dataset, std::uint32_t seed, const std::string& name,
                    const Execution& execution) {
  check_can_split_again(dataset, name);
  return dataset.split == SplitKind::users ? split_users_again(dataset, seed, execution)
                                           : split_given_again(dataset, seed, execution);
}

}  // namespace poise
