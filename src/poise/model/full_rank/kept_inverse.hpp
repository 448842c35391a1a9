#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "poise/backend/backend.hpp"
#include "poise/backend/resident.hpp"
#include "poise/base/parallel.hpp"
#include "poise/linalg/matrix.hpp"
#include "poise/model/full_rank/fit.hpp"
#include "poise/weighting/fold_in.hpp"

namespace poise {

/// What an update needs of a dense full-rank fit besides the model and the data: A^-1, and the counts that
/// weights and Lambda were made from. Of unweighted models with an inverse in float32 only its diagonal is
/// kept, because off it A^-1 is B up to a factor for each column.
struct KeptInverse {
  TrainingCounts counts;
  double condition = 0;
  bool float64 = false;
  std::vector<double> h;  ///< h_ii of each column; of unweighted models the diagonal of A^-1
  std::variant<std::monostate, Matrix<float>, Matrix<double>> A_inverse;

  [[nodiscard]] bool follows_from_B() const { return std::holds_alternative<std::monostate>(A_inverse); }
};

/// What is to be kept of a fit of one model; moves the inverse out of the basis. `weighted`: see
/// ColumnProblem.
KeptInverse keep_inverse(const FullRankFit& fit, FullRankBasis& basis, TrainingCounts counts, bool weighted);

/// A^-1 with further items, which no row has yet and whose diagonal of A is `further`. B is the model (by
/// rows), l Lambda's diagonal. Leaves `kept` without its matrix.
template <class T>
Resident<T> extended_inverse(KeptInverse& kept, MatrixView<const float> B, bool zero_diagonal,
                             const std::vector<double>& l, std::span<const double> further, Backend& backend,
                             int threads);

/// MODEL.inverse, the file beside a model.
std::filesystem::path kept_inverse_path(const std::filesystem::path& model);
/// The bytes of such a file, roughly, and if the inverse has to be held in float64.
std::uint64_t kept_inverse_bytes(std::int64_t items, bool weighted, bool float64);

/// The file beside a model that an update needs: written first, under another name, and moved to its place
/// once the model is written, so that a failure leaves the earlier pair. The destructor removes what was not
/// moved.
class StagedInverse {
 public:
  StagedInverse(std::filesystem::path model, const KeptInverse& kept, int threads);
  StagedInverse(const StagedInverse&) = delete;
  StagedInverse& operator=(const StagedInverse&) = delete;
  ~StagedInverse();

  /// What the model records in its report, under kept_inverse_key, so that the two belong together.
  [[nodiscard]] const std::string& checksum() const { return checksum_; }
  /// Moves it beside the model, which is there now.
  void publish();

 private:
  std::filesystem::path model_;
  std::string checksum_;
  bool published_ = false;
};

/// The key of the checksum in a model's report.
inline constexpr const char* kept_inverse_key = "kept_inverse";

/// Error{input} unless the file is there, whole, of this many items, and the one with this checksum.
KeptInverse read_kept_inverse(const std::filesystem::path& model, const std::string& checksum,
                              std::int64_t items, int threads);

extern template Resident<float> extended_inverse<float>(KeptInverse&, MatrixView<const float>, bool,
                                                        const std::vector<double>&, std::span<const double>,
                                                        Backend&, int);
extern template Resident<double> extended_inverse<double>(KeptInverse&, MatrixView<const float>, bool,
                                                          const std::vector<double>&, std::span<const double>,
                                                          Backend&, int);

}  // namespace poise
