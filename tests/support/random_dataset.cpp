#include "support/random_dataset.hpp"

#include <random>
#include <string>

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

Csr random_csr(std::int64_t rows, std::int64_t cols, double density, bool values, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> unit;
  Csr matrix{.rows = rows, .cols = cols, .offsets = {0}, .indices = {}, .values = {}};
  for (std::int64_t r = 0; r < rows; ++r) {
    const double wanted = r % 5 == 2 ? 0.0 : density;
    for (std::int32_t c = 0; c < cols; ++c) {
      if (unit(random) >= wanted) continue;
      matrix.indices.push_back(c);
      if (values) matrix.values.push_back(static_cast<float>(unit(random) * 10 - 3));
    }
    matrix.offsets.push_back(matrix.entries());
  }
  return matrix;
}

Dataset random_dataset(const RandomDatasetOptions& options) {
  const auto matrix = [&](std::int64_t rows, std::uint64_t part) {
    return random_csr(rows, options.items, options.density, options.values, options.seed * 100 + part);
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
                    .skipped_lines = 5};
  const auto held_out = [&](std::uint64_t part) {
    HeldOut result;
    if (options.split == SplitKind::given) {
      result.users = dataset.users;
      for (std::int64_t k = 0; k < options.held_out_users; ++k)
        result.users.push_back("new " + std::to_string(k));
      result.fold_in = {.rows = result.users.size(),
                        .cols = options.items,
                        .offsets = dataset.train.offsets,
                        .indices = {},
                        .values = {}};
      result.fold_in.offsets.resize(result.users.size() + 1, dataset.train.entries());
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
