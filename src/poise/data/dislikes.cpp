#include "poise/data/dislikes.hpp"

#include <algorithm>
#include <limits>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "poise/base/error.hpp"

namespace poise {
namespace {

constexpr std::int32_t nobody = -1;
/// The end of a log that is not cut in time.
constexpr std::int64_t no_end = std::numeric_limits<std::int64_t>::max();

std::unordered_map<std::string_view, std::int32_t> place_of_each(const Ids& ids) {
  std::unordered_map<std::string_view, std::int32_t> index;
  index.reserve(ids.size());
  for (std::int64_t k = 0; k < ids.size(); ++k) index.emplace(ids[k], static_cast<std::int32_t>(k));
  return index;
}

/// Each id's number among others; -1 where it is not one of them.
std::vector<std::int32_t> numbers_among(const Ids& ids, const Ids& others) {
  const auto index = place_of_each(others);
  std::vector<std::int32_t> numbers;
  numbers.reserve(ids.size());
  for (std::int64_t k = 0; k < ids.size(); ++k) {
    const auto found = index.find(ids[k]);
    numbers.push_back(found == index.end() ? nobody : found->second);
  }
  return numbers;
}

/// Keeps the ids that rows have, numbered by first appearance.
void drop_unused_ids(Ids& ids, std::vector<std::int32_t>& of_rows) {
  std::vector<std::int32_t> number(ids.size(), nobody);
  Ids used;
  for (std::int32_t& id : of_rows) {
    if (number[id] == nobody) {
      number[id] = static_cast<std::int32_t>(used.size());
      used.push_back(ids[id]);
    }
    id = number[id];
  }
  ids = std::move(used);
}

/// The distinct items of a log's rows before `end`, by user of a part, ascending.
Csr disliked_rows_of(const Interactions& log, const std::vector<std::int32_t>& row_of_user,
                     const std::vector<std::int32_t>& item_numbers, std::int64_t rows, std::int64_t items,
                     std::int64_t end) {
  std::vector<std::vector<std::int32_t>> of_row(rows);
  for (std::int64_t r = 0; r < log.rows(); ++r) {
    if (end != no_end && log.time[r] >= end) continue;
    const std::int32_t row = row_of_user[log.user[r]];
    const std::int32_t item = item_numbers[log.item[r]];
    if (row != nobody && item != nobody) of_row[row].push_back(item);
  }
  Csr result{.rows = rows, .cols = items, .offsets = {0}};
  for (std::vector<std::int32_t>& row : of_row) {
    std::ranges::sort(row);
    row.erase(std::unique(row.begin(), row.end()), row.end());
    result.indices.insert(result.indices.end(), row.begin(), row.end());
    result.offsets.push_back(result.entries());
  }
  return result;
}

/// A matrix without the entries that another has.
Csr rows_without(const Csr& matrix, const Csr& other) {
  Csr result{.rows = matrix.rows, .cols = matrix.cols, .offsets = {0}};
  const CsrView from = matrix.view();
  for (std::int64_t r = 0; r < matrix.rows; ++r) {
    for (std::int64_t k = from.offsets[r]; k < from.offsets[r + 1]; ++k) {
      if (r < other.rows && std::ranges::binary_search(other.view().row(r), from.indices[k])) continue;
      result.indices.push_back(from.indices[k]);
      if (!from.values.empty()) result.values.push_back(from.values[k]);
    }
    result.offsets.push_back(result.entries());
  }
  return result;
}

/// No rows where nothing is disliked: then data are those from before there were dislikes.
Csr none_if_empty(Csr disliked) { return disliked.entries() > 0 ? std::move(disliked) : Csr(); }

/// The distinct pairs of a log.
std::int64_t pairs_of(const Interactions& log) {
  std::vector<std::pair<std::int32_t, std::int32_t>> pairs;
  pairs.reserve(log.rows());
  for (std::int64_t r = 0; r < log.rows(); ++r) pairs.emplace_back(log.user[r], log.item[r]);
  std::ranges::sort(pairs);
  return std::unique(pairs.begin(), pairs.end()) - pairs.begin();
}

/// Targets are what is known later: they do not change what training knew.
void attach_to_given(Dataset& dataset, std::optional<HeldOut>& part) {
  if (!part || dataset.disliked.rows == 0) return;
  part->disliked = borrowed_rows(dataset.disliked, part->users.size());
  const std::int64_t before = part->targets.entries();
  part->targets = rows_without(part->targets, dataset.disliked);
  dataset.counts.disliked_targets += before - part->targets.entries();
}

}  // namespace

void mark_dislikes(Interactions& log, double below) {
  log.low.assign(log.value.size(), 0);
  log.disliked_rows = 0;
  for (std::size_t r = 0; r < log.value.size(); ++r) {
    if (!(static_cast<double>(log.value[r]) < below)) continue;
    log.low[r] = Interactions::disliked;
    ++log.disliked_rows;
  }
}

Interactions take_dislikes(Interactions& log) {
  Interactions taken;
  taken.users = log.users;
  taken.items = log.items;
  std::int64_t left = 0;
  for (std::int64_t r = 0; r < log.rows(); ++r) {
    if (log.low[r] == Interactions::disliked) {
      taken.user.push_back(log.user[r]);
      taken.item.push_back(log.item[r]);
      if (!log.time.empty()) taken.time.push_back(log.time[r]);
    } else if (log.low[r] == 0) {
      log.user[left] = log.user[r];
      log.item[left] = log.item[r];
      if (!log.value.empty()) log.value[left] = log.value[r];
      if (!log.time.empty()) log.time[left] = log.time[r];
      ++left;
    }
  }
  log.user.resize(left);
  log.item.resize(left);
  if (!log.value.empty()) log.value.resize(left);
  if (!log.time.empty()) log.time.resize(left);
  log.low = {};
  drop_unused_ids(log.users, log.user);
  drop_unused_ids(log.items, log.item);
  return taken;
}

Dataset split_with_dislikes(const Interactions& log,
                            const std::function<Dataset(const Interactions& liked)>& split,
                            const Execution& execution) {
  if (log.low.empty()) return split(log);
  Interactions liked = log;
  const Interactions disliked = take_dislikes(liked);
  Dataset dataset = split(liked);
  if (dataset.split == SplitKind::last || dataset.split == SplitKind::cold_items)
    fail(ErrorKind::usage,
         "the split {} takes no dislikes: it has no time at which they would be known; choose the split in "
         "time, or leave {} out",
         to_string(dataset.split), "dislike-below"_p);
  attach_dislikes(dataset, disliked, execution);
  return dataset;
}

void attach_dislikes(Dataset& dataset, const Interactions& log, const Execution& execution) {
  if (log.rows() == 0) return;
  const std::vector<std::int32_t> items = numbers_among(log.items, dataset.items);
  const auto rows_of = [&](const Ids& users, std::int64_t end) {
    stop_if_asked(execution.observer);
    return disliked_rows_of(log, numbers_among(log.users, users), items, users.size(), dataset.items.size(),
                            end);
  };
  // What is disliked at or after a part's cut is not known there.
  const std::int64_t test_cut = dataset.cuts ? dataset.cuts->test : no_end;
  const std::int64_t first_cut = dataset.cuts ? dataset.cuts->validation.value_or(test_cut) : no_end;
  dataset.disliked = none_if_empty(rows_without(rows_of(dataset.users, first_cut), dataset.train));
  std::int64_t attached = dataset.disliked.entries();
  for (std::optional<HeldOut>* part : {&dataset.validation, &dataset.test}) {
    if (dataset.split == SplitKind::given) {
      attach_to_given(dataset, *part);
    } else if (*part) {
      HeldOut& held_out = **part;
      const std::int64_t end = part == &dataset.validation ? first_cut : test_cut;
      Csr disliked = rows_without(rows_of(held_out.users, end), held_out.fold_in);
      if (dataset.cuts) {
        // The dislike was known before the target: it stays, whatever comes later.
        const std::int64_t before = held_out.targets.entries();
        held_out.targets = rows_without(held_out.targets, disliked);
        dataset.counts.disliked_targets += before - held_out.targets.entries();
        held_out.disliked = none_if_empty(std::move(disliked));
      } else {
        held_out.disliked = none_if_empty(rows_without(disliked, held_out.targets));
        attached += held_out.disliked.entries();
      }
    }
  }
  dataset.counts.dropped_dislikes += pairs_of(log) - attached;
}

}  // namespace poise
