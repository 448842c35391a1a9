#include "poise/model/neighbours/supports.hpp"

#include <algorithm>
#include <memory>

#include "poise/base/pool.hpp"
#include "poise/model/neighbours/gram_row.hpp"

namespace poise {
namespace {

constexpr std::int64_t support_columns_per_tile = 16;

struct Candidate {
  double score;
  std::int32_t item;
};

bool better(const Candidate& a, const Candidate& b) {
  return a.score > b.score || (a.score == b.score && a.item < b.item);
}

/// The k best of what is offered, in any order. They wait in a list, which is cut down to the best k when it
/// holds twice as many.
class BestNeighbours {
 public:
  void begin(std::int64_t k) {
    k_ = k;
    waiting_.clear();
    worst_ = {-1, 0};
  }
  void offer(Candidate candidate) {
    if (!better(candidate, worst_)) return;
    waiting_.push_back(candidate);
    if (std::ssize(waiting_) == 2 * k_) cut();
  }
  /// The best, in order.
  std::span<const Candidate> finish() {
    if (std::ssize(waiting_) > k_) cut();
    std::sort(waiting_.begin(), waiting_.end(), better);
    return waiting_;
  }

 private:
  void cut() {
    std::nth_element(waiting_.begin(), waiting_.begin() + (k_ - 1), waiting_.end(), better);
    waiting_.resize(k_);
    worst_ = waiting_.back();
  }

  std::int64_t k_ = 0;
  Candidate worst_ = {};  // others must be better
  std::vector<Candidate> waiting_;
};

template <class T>
struct SupportSpace {
  explicit SupportSpace(const NeighbourProblem& problem) : row(problem) {}
  GramRow<T> row;
  BestNeighbours best;
  std::vector<std::int32_t> sorted;
};

/// Lowest items that are not there yet, and not `excluded`.
void fill_by_index(std::span<std::int32_t> support, std::size_t known, std::int32_t excluded,
                   std::vector<std::int32_t>& sorted) {
  sorted.assign(support.begin(), support.begin() + static_cast<std::ptrdiff_t>(known));
  std::sort(sorted.begin(), sorted.end());
  auto next = sorted.begin();
  for (std::int32_t item = 0; known < support.size(); ++item) {
    while (next != sorted.end() && *next < item) ++next;
    if (item == excluded || (next != sorted.end() && *next == item)) continue;
    support[known++] = item;
  }
}

template <class T>
void choose(const NeighbourProblem& problem, std::span<const double> inverse_diagonal, std::int64_t first,
            std::int64_t count, std::int64_t k, std::span<std::int32_t> supports,
            const Execution& execution) {
  Pool<SupportSpace<T>> spaces([&] { return std::make_unique<SupportSpace<T>>(problem); });
  const Tiling tiling{count, support_columns_per_tile};
  for_each_tile(tiling.tiles(), execution.threads, [&](std::int64_t tile) {
    stop_if_asked(execution.observer);
    const auto space = spaces.take();
    for (std::int64_t c = tiling.first(tile); c < tiling.last(tile); ++c) {
      const auto j = static_cast<std::int32_t>(first + c);
      const std::int32_t excluded = problem.zero_diagonal ? j : -1;
      space->row.fill(j);
      space->best.begin(k);
      space->row.drain(j, [&](std::int32_t i, T sum) {
        const auto g = static_cast<double>(sum);
        if (i != excluded) space->best.offer({g * g * inverse_diagonal[i], i});
      });
      const auto support = supports.subspan(c * k, k);
      std::size_t known = 0;
      for (const Candidate& candidate : space->best.finish()) support[known++] = candidate.item;
      fill_by_index(support, known, excluded, space->sorted);
    }
  });
}

}  // namespace

std::vector<double> inverse_diagonals(const NeighbourProblem& problem, int threads) {
  std::vector<double> inverse = problem.diagonal(threads);
  for (std::int64_t i = 0; i < problem.items(); ++i)
    inverse[i] = 1 / (inverse[i] + problem.l[i] / problem.b_bar);
  return inverse;
}

void choose_supports(const NeighbourProblem& problem, std::span<const double> inverse_diagonal,
                     std::int64_t first, std::int64_t count, std::int64_t k, std::span<std::int32_t> supports,
                     const Execution& execution) {
  if (problem.counts_alone()) {
    choose<std::uint32_t>(problem, inverse_diagonal, first, count, k, supports, execution);
  } else {
    choose<double>(problem, inverse_diagonal, first, count, k, supports, execution);
  }
}

}  // namespace poise
