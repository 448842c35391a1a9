#pragma once

#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "poise/backend/backend.hpp"
#include "poise/backend/resident.hpp"
#include "poise/solver/column_problem.hpp"
#include "poise/solver/woodbury.hpp"

namespace poise {

/// What fits with the same a, b_bar and Lambda share, for any C: A^-1 in the required precision, and T. Empty
/// until a fit fills it; a fit with another A replaces it.
class FullRankBasis {
 public:
  template <class T>
  struct Inverse {
    Resident<T> matrix;
    std::optional<SpdInverse> outcome;
    std::unique_ptr<ScoresOfInverse<T>> scores;  ///< Woodbury's T
  };

  /// Empties it unless it is that of this problem.
  void prepare_for(const ColumnProblem& problem);

  /// Holds this A^-1 from now on, for continue_full_rank().
  template <class T>
  void adopt(Resident<T> A_inverse, double condition) {
    *this = {};
    inverse<T>().matrix = std::move(A_inverse);
    inverse<T>().outcome = SpdInverse{.positive_definite = true, .condition = condition};
  }

  /// The last unweighted model may take the place of A^-1 in float32, from which A^-1 follows again.
  bool in_place = false;

  /// G = X' diag(a) X + beta F'F in float64, if gathers are slow: residuals are then dense products, at the
  /// cost of one more matrix.
  Resident<double>& gram() { return gram_; }

  template <class T>
  Inverse<T>& inverse() {
    if constexpr (std::is_same_v<T, float>) {
      return single_;
    } else {
      return wide_;
    }
  }

 private:
  std::uint64_t X_ = 0;         ///< its fingerprint
  std::uint64_t features_ = 0;  ///< theirs, with their weight
  std::vector<float> a_;
  std::vector<double> diagonal_;  ///< of Lambda / b_bar
  Inverse<float> single_;
  Inverse<double> wide_;
  Resident<double> gram_;
};

}  // namespace poise
