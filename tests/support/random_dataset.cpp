#include "support/random_dataset.hpp"

#include <string>

#include "support/random_data.hpp"

namespace poise::testing {
namespace {

Ids ids(std::int64_t count, const std::string& prefix) {
  Ids result;
  for (std::int64_t k = 0; k < count; ++k) {
    if (k == 3)
      result.push_back("");
    else if (k == 4)
      result.push_back(std::string("line\nbreak\0 and \xff\xfe", 18));
    else
      result.push_back(prefix + std::to_string(k));
  }
  return result;
}

}  // namespace

Dataset random_dataset(const RandomDatasetOptions& options) {
  const auto matrix = [&](std::int64_t rows, unsigned part) {
    constexpr bool gaps = true;
    return random_csr(rows, options.items, options.density, options.values, options.seed * 100 + part, gaps);
  };
  Dataset dataset;
  dataset.split = options.split;
  dataset.items = ids(options.items, "item ");
  dataset.users = ids(options.users, "user ");
  dataset.train = matrix(options.users, 0);
  dataset.counts = {.duplicates = 1,
                    .empty_ids = 2,
                    .below_threshold = std::int64_t{1} << 40,
                    .outside_catalogue = 4,
                    .skipped_lines = 5,
                    .filtered_users = options.split == SplitKind::given ? 0 : 6,
                    .filtered_items = 0,
                    .filtered_interactions = options.split == SplitKind::given ? 0 : 7};
  if (options.split == SplitKind::time)
    dataset.cuts = TimeCuts{.validation = -1, .test = std::int64_t{1} << 60, .end = {}};
  if (options.split == SplitKind::last) dataset.counts.repeats = 8;
  const auto held_out = [&](unsigned part) {
    HeldOut result;
    if (options.split == SplitKind::given) {
      result.users = dataset.users;
      for (std::int64_t k = 0; k < options.held_out_users; ++k)
        result.users.push_back("new " + std::to_string(k));
      result.fold_in = borrowed_rows(dataset.train, result.users.size());
    } else {
      result.users = ids(options.held_out_users, "held out ");
      result.fold_in = matrix(options.held_out_users, part);
    }
    result.targets = matrix(result.users.size(), part + 1);
    return result;
  };
  if (options.split != SplitKind::none) {
    dataset.validation = held_out(1);
    dataset.test = held_out(3);
  }
  return dataset;
}

}  // namespace poise::testing
