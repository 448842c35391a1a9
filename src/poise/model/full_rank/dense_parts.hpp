#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "poise/linalg/matrix.hpp"
#include "poise/storage/container.hpp"

namespace poise {

/// The most iterations that columns took, and the worst that was left after each: FullRankFit.
struct IterationTrace {
  std::int64_t iterations = 0;
  std::vector<double> worst;
};

/// Solved columns of B as they wait on disk, and what later proofs and reports need of their solution.
struct SolvedColumns {
  std::vector<std::int32_t> items;
  Matrix<float> beta;       ///< row k is B_:i, i = items[k]
  std::vector<double> own;  ///< the solver's multipliers of the zero diagonal; may be empty
  bool direct = false;      ///< by Woodbury's identity
  IterationTrace trace;
};

/// What else is known of an inverse.
struct InverseFigures {
  double condition = 0;
  IterationTrace trace = {};  ///< of an attempt in float32 before
};

/// The folder of a dense full-rank model's checkpoint: A^-1 in parts of 256 rows, and solved columns of B in
/// blocks, for each precision of the inverse. Each file is a container (storage/container.hpp) that appears
/// whole or not at all. It belongs to one process; nothing in it depends on how many there are.
///
/// Errors: Error{usage} where the folder belongs to another training, Error{input} where a file is damaged,
/// Error{resources} where the disk is full.
class DenseParts {
 public:
  static constexpr std::int64_t rows_per_part = 256;

  /// `key` is all that decides what the model is; `processes` decide how an inverse rounds. Makes the folder.
  DenseParts(std::filesystem::path folder, std::string key, int processes);

  /// Whether all parts of an inverse of n items, in numbers of so many bytes, are there, made by as many
  /// processes, all of them.
  [[nodiscard]] bool has_inverse(std::int64_t n, std::size_t number_bytes) const;
  /// The part whose first row is `first`; its rows are its tensor "rows".
  [[nodiscard]] Container inverse_part(std::int64_t first, std::size_t number_bytes) const;
  [[nodiscard]] static InverseFigures figures_of(const Container& part);
  template <class T>
  void write_inverse_part(std::int64_t first, const Matrix<T>& rows, const InverseFigures& figures) const;

  /// The files of solved columns, by the number of their first column.
  [[nodiscard]] std::vector<std::filesystem::path> blocks(std::size_t number_bytes) const;
  [[nodiscard]] SolvedColumns read_block(const std::filesystem::path& path, std::int64_t n) const;
  void write_block(const SolvedColumns& columns, std::size_t number_bytes) const;

  /// Removes what belongs to inverses of this precision.
  void forget(std::size_t number_bytes) const;
  /// Removes all parts, and the folder where nothing else lies in it.
  static void remove(const std::filesystem::path& folder);
  /// What a folder holds, as a text for people: "the inverse and 512 columns"; empty where there is nothing.
  static std::string found_in(const std::filesystem::path& folder);

 private:
  [[nodiscard]] std::filesystem::path inverse_path(std::int64_t first, std::size_t number_bytes) const;
  [[nodiscard]] Container open(const std::filesystem::path& path) const;

  std::filesystem::path folder_;
  std::string key_;
  std::string processes_;
};

}  // namespace poise
