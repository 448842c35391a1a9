#include "poise/data/merge.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "poise/base/error.hpp"
#include "poise/data/count_names.hpp"
#include "poise/data/histories.hpp"
#include "poise/data/item_index.hpp"
#include "poise/data/merge_features.hpp"

namespace poise {

namespace {

struct Entry {
  std::int32_t item;
  float value;
};

/// What is to be done to one user's row.
struct Change {
  std::vector<std::int32_t> removed;  ///< ascending
  std::vector<Entry> added;           ///< by item; an item once
};

class Merger {
 public:
  explicit Merger(const Dataset& data)
      : data_(data),
        old_users_(data.users.size()),
        has_values_(!data.train.values.empty()),
        users_(data.users),
        items_(data.items) {
    for (const auto* part : {&data.validation, &data.test}) {
      if (*part) held_out_.emplace_back(**part, ItemIndex((*part)->users));
    }
    result_.dataset.items = data.items;
    result_.dataset.users = data.users;
    result_.dataset.split = data.split;
    result_.dataset.counts = data.counts;
    result_.dataset.features = data.features;
  }

  void remove(const Interactions& log, const Execution& execution) {
    const Histories rows = group_by_user(log, execution);
    for (std::int64_t u = 0; u < rows.users(); ++u) {
      const std::optional<std::int32_t> user = users_.find(log.users[u]);
      if (!user) {
        const bool elsewhere = std::ranges::any_of(
            held_out_, [&](const auto& part) { return part.second.find(log.users[u]).has_value(); });
        fail(ErrorKind::input, "user '{}' of the rows to remove {}; take the user out of that file",
             log.users[u], elsewhere ? "is held out and has no training row" : "is not in the data");
      }
      Change& change = changes_[*user];
      for (const std::int32_t item : rows.user(u)) {
        const std::optional<std::int32_t> number = items_.find(log.items[item]);
        const auto row = data_.train.view().row(*user);
        if (number && std::ranges::binary_search(row, *number)) {
          change.removed.push_back(*number);
          ++result_.counts.removed;
        } else {
          ++result_.counts.not_there;
        }
      }
      std::ranges::sort(change.removed);
    }
  }

  void add(const Interactions& log, const Execution& execution) {
    if (has_values_ && log.value.empty())
      fail(ErrorKind::input,
           "the data have values and the log has none; name its value column ({}), or give each row a value",
           "columns"_p);
    const Histories rows = group_by_user(log, execution);
    number_users(log);
    number_items(log);
    result_.counts.log_rows = log.rows();
    result_.counts.duplicates = rows.duplicates;
    for (std::int64_t u = 0; u < rows.users(); ++u) {
      if (user_number_[u] == nobody) continue;
      Change& change = changes_[user_number_[u]];
      for (std::int64_t slot = rows.first[u]; slot < rows.last[u]; ++slot) {
        const std::int32_t item = item_number_[rows.item[slot]];
        if (item != nobody && !is_target(user_number_[u], item))
          change.added.push_back({item, rows.value.empty() ? 1.0F : rows.value[slot]});
      }
      std::ranges::sort(change.added, {}, &Entry::item);
    }
    PrepareCounts& counts = result_.dataset.counts;
    counts.duplicates += rows.duplicates;
    counts.empty_ids += log.empty_ids;
    counts.below_threshold += log.below_threshold;
    counts.skipped_lines += log.skipped_lines;
  }

  /// After the log, behind whose items further ones come.
  void describe(const FeatureTable& table) { describe_items(table, result_); }

  Merged take() {
    build_rows();
    Dataset& merged = result_.dataset;
    merged.counts.duplicates += result_.counts.known;
    if (merged.features.rows.rows > 0) merged.features.rows.cols = merged.items.size();
    if (data_.validation) merged.validation = moved(*data_.validation);
    if (data_.test) merged.test = moved(*data_.test);
    return std::move(result_);
  }

 private:
  static constexpr std::int32_t nobody = -1;

  /// With the split `given` users are in several parts, and their targets must stay unknown.
  [[nodiscard]] bool is_target(std::int32_t user, std::int32_t item) const {
    if (data_.split != SplitKind::given || item >= data_.items.size()) return false;
    return std::ranges::any_of(held_out_, [&](const auto& part) {
      const std::optional<std::int32_t> row = part.second.find(result_.dataset.users[user]);
      return row && std::ranges::binary_search(part.first.targets.view().row(*row), item);
    });
  }

  void number_users(const Interactions& log) {
    for (std::int64_t u = 0; u < log.users.size(); ++u) {
      const std::string_view id = log.users[u];
      const bool held_out =
          data_.split != SplitKind::given &&
          std::ranges::any_of(held_out_, [&](const auto& part) { return part.second.find(id).has_value(); });
      std::optional<std::int32_t> number = users_.find(id);
      if (!number && !held_out) {
        if (result_.dataset.users.size() == max_count)
          fail(ErrorKind::input, "the merged data have more than {} users", max_count);
        number = static_cast<std::int32_t>(result_.dataset.users.size());
        result_.dataset.users.push_back(id);
        ++result_.counts.new_users;
      }
      user_number_.push_back(number.value_or(nobody));
    }
  }

  /// In the order of the rows that are added, as `prepare` numbers items.
  void number_items(const Interactions& log) {
    item_number_.assign(log.items.size(), nobody);
    for (std::int64_t r = 0; r < log.rows(); ++r) {
      const std::int32_t user = user_number_[log.user[r]];
      std::int32_t& number = item_number_[log.item[r]];
      if (number == nobody && user != nobody) {
        const std::optional<std::int32_t> known = items_.find(log.items[log.item[r]]);
        number = known.value_or(static_cast<std::int32_t>(result_.dataset.items.size()));
        if (!known) {
          if (number == max_count)
            fail(ErrorKind::input, "the merged data have more than {} items", max_count);
          result_.dataset.items.push_back(log.items[log.item[r]]);
          ++result_.counts.new_items;
        }
      }
      if (user == nobody || is_target(user, number)) ++result_.counts.held_out;
    }
  }

  /// The row of a user after the change; whether it differs from the old one.
  bool apply(const Change& change, std::int32_t user, std::vector<Entry>& row) {
    row.clear();
    if (user < old_users_) {
      const CsrView old = data_.train.view();
      for (std::int64_t k = 0; k < old.row_size(user); ++k) {
        const std::int32_t item = old.row(user)[k];
        if (!std::ranges::binary_search(change.removed, item))
          row.push_back({item, has_values_ ? old.row_values(user)[k] : 1.0F});
      }
    }
    bool differs = !change.removed.empty();
    const auto kept = static_cast<std::ptrdiff_t>(row.size());
    for (const Entry& entry : change.added) {
      const auto end = row.begin() + kept;
      const auto place =
          std::lower_bound(row.begin(), end, entry.item,
                           [](const Entry& each, std::int32_t item) { return each.item < item; });
      if (place == end || place->item != entry.item) {
        row.push_back(entry);
        ++result_.counts.added;
        differs = true;
        continue;
      }
      ++result_.counts.known;
      if (!has_values_) continue;
      const double sum = static_cast<double>(place->value) + static_cast<double>(entry.value);
      if (!(std::abs(sum) <= std::numeric_limits<float>::max()))
        fail(ErrorKind::input,
             "the values of user '{}' and item '{}' add up to more than a float holds (3.4e38); correct them",
             result_.dataset.users[user], result_.dataset.items[entry.item]);
      place->value = static_cast<float>(sum);
      differs = differs || entry.value != 0;
    }
    std::ranges::sort(row, {}, &Entry::item);
    return differs;
  }

  void build_rows() {
    const CsrView old = data_.train.view();
    Csr& rows = result_.dataset.train;
    rows.rows = result_.dataset.users.size();
    rows.cols = result_.dataset.items.size();
    rows.indices.reserve(old.indices.size());
    const auto untouched = [&](std::int64_t first, std::int64_t last) {  // copies these old rows
      const auto shift = static_cast<std::int64_t>(rows.indices.size()) - old.offsets[first];
      for (std::int64_t u = first; u < last; ++u) rows.offsets.push_back(old.offsets[u + 1] + shift);
      const auto from = old.offsets[first];
      const auto count = old.offsets[last] - from;
      rows.indices.insert(rows.indices.end(), old.indices.begin() + from, old.indices.begin() + from + count);
      if (has_values_)
        rows.values.insert(rows.values.end(), old.values.begin() + from, old.values.begin() + from + count);
    };
    std::int64_t next = 0;
    std::vector<Entry> row;
    for (const auto& [user, change] : changes_) {
      if (next < std::min<std::int64_t>(user, old_users_))
        untouched(next, std::min<std::int64_t>(user, old_users_));
      if (apply(change, user, row) && user < old_users_) result_.changed.push_back(user);
      for (const Entry& entry : row) {
        rows.indices.push_back(entry.item);
        if (has_values_) rows.values.push_back(entry.value);
      }
      rows.offsets.push_back(static_cast<std::int64_t>(rows.indices.size()));
      next = user + 1;
    }
    if (next < old_users_) untouched(next, old_users_);
    result_.counts.changed_users = static_cast<std::int64_t>(result_.changed.size());
  }

  /// A held-out part over the longer catalogue. With the split `given` its users are the training users, then
  /// its own, of whom some may have become training users.
  [[nodiscard]] HeldOut moved(const HeldOut& part) const {
    const Dataset& merged = result_.dataset;
    HeldOut result = part;
    result.targets.cols = result.fold_in.cols = merged.items.size();
    if (data_.split != SplitKind::given) return result;
    const ItemIndex rows(part.users);
    const ItemIndex training(merged.users);
    result.users = merged.users;
    for (std::int64_t u = old_users_; u < part.users.size(); ++u) {
      if (!training.find(part.users[u])) result.users.push_back(part.users[u]);
    }
    result.targets = {.rows = result.users.size(), .cols = merged.items.size()};
    for (std::int64_t u = 0; u < result.users.size(); ++u) {
      if (const std::optional<std::int32_t> row = rows.find(result.users[u])) {
        const CsrView from = part.targets.view();
        result.targets.indices.insert(result.targets.indices.end(), from.row(*row).begin(),
                                      from.row(*row).end());
        const auto values = from.row_values(*row);
        result.targets.values.insert(result.targets.values.end(), values.begin(), values.end());
      }
      result.targets.offsets.push_back(static_cast<std::int64_t>(result.targets.indices.size()));
    }
    result.fold_in = borrowed_rows(merged.train, result.users.size());
    return result;
  }

  const Dataset& data_;
  std::int64_t old_users_;
  bool has_values_;
  ItemIndex users_;
  ItemIndex items_;
  std::vector<std::pair<const HeldOut&, ItemIndex>> held_out_;
  std::vector<std::int32_t> user_number_;
  std::vector<std::int32_t> item_number_;
  std::map<std::int32_t, Change> changes_;  ///< by user
  Merged result_;
};

}  // namespace

namespace {

/// Error{usage} for data that must be prepared again, with the new rows.
void refuse_unmergeable(const Dataset& data, const Interactions* log) {
  const auto has_dislikes = [](const std::optional<HeldOut>& part) {
    return part && part->disliked.rows > 0;
  };
  if (data.disliked.rows > 0 || has_dislikes(data.validation) || has_dislikes(data.test) ||
      (log != nullptr && !log->low.empty()))
    fail(ErrorKind::usage,
         "dislikes cannot be added to prepared data, nor rows to data with dislikes; prepare the whole log "
         "and train again");
  if (data.split == SplitKind::cold_items)
    fail(
        ErrorKind::usage,
        "some items of these data are held out, and their rows must not be trained on; prepare the whole log "
        "and train again");
  if (is_in_time(data.split))
    fail(ErrorKind::usage,
         "the data are cut in time, and what comes after the cut must not be trained on; prepare the whole "
         "log with a later cut and train again");
}

}  // namespace

Merged merge(const Dataset& data, const Interactions* log, const Interactions* removed,
             const Execution& execution, const FeatureTable* features) {
  refuse_unmergeable(data, log);
  Merger merger(data);
  if (removed != nullptr) merger.remove(*removed, execution);
  if (log != nullptr) merger.add(*log, execution);
  if (features != nullptr) merger.describe(*features);
  Merged merged = merger.take();
  if (merged.dataset.train.entries() == 0)
    fail(ErrorKind::input, "no row is left to train on; leave some of them out of the rows to remove");
  validate(merged.dataset, execution.threads);
  return merged;
}

}  // namespace poise
