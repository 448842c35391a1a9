#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "poise/linalg/csr.hpp"
#include "poise/linalg/large_pages.hpp"
#include "poise/solver/feature_rows.hpp"

namespace poise {

/// Vectors over the items that are worked on together, on one thread: entry i of all of them is one line of
/// memory, so that what a gather fetches is used whole.
constexpr std::int64_t normal_width = 8;

/// items x normal_width numbers.
class VectorGroup {
 public:
  explicit VectorGroup(std::int64_t items) : values_(items * normal_width, 0.0) {}
  [[nodiscard]] double* row(std::int64_t i) { return values_.data() + i * normal_width; }
  [[nodiscard]] const double* row(std::int64_t i) const { return values_.data() + i * normal_width; }
  [[nodiscard]] std::int64_t items() const { return std::ssize(values_) / normal_width; }
  void clear();

 private:
  std::vector<double, LargePages<double>> values_;
};

/// A user's weight in one vector of a group: adds `weight` to a_u there.
struct UserWeight {
  std::int32_t user;
  std::int32_t vector;
  double weight;
};

/// One number for each stored entry of a sparse matrix of users x items, row after row.
struct EntryErrors {
  CsrView support;  ///< its values are not read
  std::span<const double> values;
};

/// out += X' t with t_u = a_u (x_u . P) for each vector, plus weight_u (x_u . P) where `weights` (ascending
/// by user) has the user and vector, plus sum over i of E_ui Z_i where there are errors E and a Z. `sums` +=
/// E'X P where it is given. 4 nnz operations a vector, in the order of the users; a user's row is gathered
/// and scattered to at once.
struct NormalProduct {
  CsrView X;
  std::span<const float> a = {};  ///< empty: all 1
  std::span<const UserWeight> weights = {};
  const EntryErrors* errors = nullptr;
  const VectorGroup* Z = nullptr;
  VectorGroup* sums = nullptr;
};
void add_normal_product(const NormalProduct& product, const VectorGroup& P, VectorGroup& out);

/// out += beta F'F P. 4 entries(F) operations a vector.
void add_feature_product(const FeatureRows& features, const VectorGroup& P, VectorGroup& out);

}  // namespace poise
