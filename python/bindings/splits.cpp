#include "splits.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <utility>

#include "poise/base/error.hpp"
#include "poise/data/attach_features.hpp"
#include "poise/data/dislikes.hpp"
#include "poise/data/split.hpp"
#include "poise/train/parameter_table.hpp"

#include "work.hpp"

namespace py = pybind11;

namespace poise::python {
namespace {

Filters filters_of(std::int64_t min_user_items, std::int64_t min_item_users, bool k_core) {
  return {.min_user_items = min_user_items, .min_item_users = min_item_users, .k_core = k_core};
}

/// What `split` makes of a log, with the log's dislikes.
template <class Split>
Data data_of(const Interactions& log, int threads, const py::object& progress, const Split& split) {
  return run({threads, progress}, [&](const Execution& execution) {
    return Data(split_with_dislikes(
        log, [&](const Interactions& liked) { return split(liked, execution); }, execution));
  });
}

/// The liked rows of a held-out log: what is disliked later is no target, and training does not know it.
std::optional<Interactions> liked_rows(const std::shared_ptr<Interactions>& log) {
  if (!log) return std::nullopt;
  Interactions liked = *log;
  if (!liked.low.empty()) static_cast<void>(take_dislikes(liked));
  return liked;
}

/// The cut of an optional text.
std::optional<CutPlace> cut_of(const std::optional<std::string>& text, const std::string& unit) {
  if (!text) return std::nullopt;
  return parse_cut(*text, unit_of(unit));
}

TimeSplit time_split_of(const std::string& test_from, const std::optional<std::string>& validation_from,
                        const std::optional<std::string>& test_to, const std::string& unit) {
  TimeSplit split{.test_from = *cut_of(test_from, unit)};
  constexpr double usual_share = 0.1;
  if (!validation_from)
    split.validation_from = CutPlace{.share = split.test_from.time ? usual_share : split.test_from.share};
  else if (*validation_from != "none")
    split.validation_from = cut_of(validation_from, unit);
  if (const auto end = cut_of(test_to, unit)) {
    if (!end->time) fail(ErrorKind::usage, "{} takes a time, not a share", "test-to"_p);
    split.test_to = end->time;
  }
  return split;
}

void bind_splits_by_users(DataClass& data) {
  data.def_static("split_users",
                  [](const Interactions& log, std::int64_t min_user_items, std::int64_t min_item_users,
                     bool k_core, std::optional<std::int64_t> held_out_users, double target_share,
                     std::uint32_t seed, int threads, const py::object& progress) {
                    const Filters filters = filters_of(min_user_items, min_item_users, k_core);
                    const UserSplit split{
                        .held_out_users = held_out_users, .target_share = target_share, .seed = seed};
                    return data_of(log, threads, progress,
                                   [&](const auto& liked, const Execution& execution) {
                                     return split_users(liked, filters, split, execution);
                                   });
                  })
      .def_static("split_none",
                  [](const Interactions& log, std::int64_t min_user_items, std::int64_t min_item_users,
                     bool k_core, int threads, const py::object& progress) {
                    const Filters filters = filters_of(min_user_items, min_item_users, k_core);
                    return data_of(log, threads, progress,
                                   [&](const auto& liked, const Execution& execution) {
                                     return split_none(liked, filters, execution);
                                   });
                  })
      .def_static("split_given",
                  [](const Interactions& train, const std::shared_ptr<Interactions>& validation,
                     const std::shared_ptr<Interactions>& test, int threads, const py::object& progress) {
                    return data_of(
                        train, threads, progress, [&](const auto& liked, const Execution& execution) {
                          return split_given(liked, liked_rows(validation), liked_rows(test), execution);
                        });
                  });
}

void bind_split_by_items(DataClass& data) {
  data.def_static(
      "split_cold_items",
      [](const Interactions& log, std::int64_t min_user_items, std::int64_t min_item_users, bool k_core,
         const std::string& item_features, std::uint32_t seed, int threads, const py::object& progress) {
        const FeatureTable table = read_item_features(item_features);
        const Ids known = items_with_features(table);
        Filters filters = filters_of(min_user_items, min_item_users, k_core);
        filters.known_items = &known;
        return data_of(log, threads, progress, [&](const auto& liked, const Execution& execution) {
          Dataset dataset = split_cold_items(liked, filters, seed, execution);
          attach_features(dataset, table);
          return dataset;
        });
      });
}

void bind_splits_in_time(DataClass& data) {
  data.def_static(
          "split_time",
          [](const Interactions& log, std::int64_t min_user_items, std::int64_t min_item_users, bool k_core,
             const std::string& test_from, const std::optional<std::string>& validation_from,
             const std::optional<std::string>& test_to, const std::string& time_unit, int threads,
             const py::object& progress) {
            const Filters filters = filters_of(min_user_items, min_item_users, k_core);
            const TimeSplit split = time_split_of(test_from, validation_from, test_to, time_unit);
            return data_of(log, threads, progress, [&](const auto& liked, const Execution& execution) {
              return split_time(liked, filters, split, execution);
            });
          })
      .def_static(
          "split_last", [](const Interactions& log, std::int64_t min_user_items, std::int64_t min_item_users,
                           bool k_core, std::int64_t holdout, int threads, const py::object& progress) {
            const Filters filters = filters_of(min_user_items, min_item_users, k_core);
            return data_of(log, threads, progress, [&](const auto& liked, const Execution& execution) {
              return split_last(liked, filters, holdout, execution);
            });
          });
}

}  // namespace

void bind_splits(DataClass& data) {
  bind_splits_by_users(data);
  bind_split_by_items(data);
  bind_splits_in_time(data);
}

TimeUnit unit_of(const std::string& name) {
  constexpr std::array names = {"auto", "s", "ms", "us", "ns"};
  const auto* const found = std::ranges::find(names, name);
  if (found == names.end())
    fail(ErrorKind::usage, "{} has to be auto, s, ms, us or ns, not '{}'", "time-unit"_p, name);
  return static_cast<TimeUnit>(found - names.begin());
}

}  // namespace poise::python
