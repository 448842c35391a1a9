#include "poise/weighting/dislikes.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "poise/base/error.hpp"
#include "poise/base/parallel.hpp"

namespace poise {

void add_dislikes(Weights& weights, const UserRows& users, double weight, int threads) {
  const CsrView X = users.items;
  if (users.disliked.rows != X.rows || users.disliked.cols != X.cols)
    fail(ErrorKind::input, "the dislikes are {} x {} but the data is {} x {}: give them the same shape",
         users.disliked.rows, users.disliked.cols, X.rows, X.cols);
  auto support = std::make_shared<Csr>(all_known(users));
  const auto of_disliked = static_cast<float>(weight - 1);
  std::vector<float> c(support->indices.size(), of_disliked);
  const CsrView all = support->view();
  for_each_row({X.rows, 1024}, threads, [&](std::int64_t u) {
    const auto items = X.row(u);
    std::int64_t k = all.offsets[u];
    for (std::size_t e = 0; e < items.size(); ++e) {  // both rows ascend
      while (all.indices[k] != items[e]) ++k;
      c[k] = weights.c.empty() ? 0 : weights.c[X.offsets[u] + static_cast<std::int64_t>(e)];
    }
  });
  weights.c = std::move(c);
  weights.support = all;
  weights.own_support = std::move(support);
  weights.lowest = std::min(weights.lowest, 1.0 + of_disliked);
  weights.highest = std::max(weights.highest, 1.0 + of_disliked);
}

}  // namespace poise
