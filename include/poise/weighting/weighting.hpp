#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "poise/base/parameter.hpp"
#include "poise/linalg/csr.hpp"
#include "poise/linalg/user_rows.hpp"
#include "poise/weighting/weights.hpp"

namespace poise {

/// The weight of an entry: W_ui = a_u b_i off the entries Omega of X, w_ui on them, so that 1 + C_ui = w_ui /
/// (a_u b_i). r_ui is the entry's value, N_u the items of a user, S_i the users of an item, m the number of
/// users; "clipped" means to [1/clip, clip]; a and b are 1 unless stated. A disliked entry, which is not in
/// X, has the weight alpha_negative a_u b_i with every scheme.
enum class Scheme {
  none,                ///< w = 1
  constant,            ///< w = alpha
  linear,              ///< w = 1 + alpha r_ui                     (Hu, Koren, Volinsky 2008)
  log,                 ///< w = 1 + alpha log(1 + r_ui / epsilon)  (Hu, Koren, Volinsky 2008)
  user_oriented,       ///< w = alpha, a_u = |N_u| / mean |N|, clipped            (Pan et al. 2008)
  item_oriented,       ///< w = alpha, b_i = (m - |S_i|) / mean (m - |S|), clipped (Pan et al. 2008)
  inverse_popularity,  ///< w = alpha min(clip, (|S_i| / max |S|)^-gamma)         (Steck 2010)
  column,              ///< w = alpha r_ui
};

/// Whether a scheme reads the entries' values: never, if there are any (else each is 1), or always.
enum class ReadsValues { no, if_any, always };

/// Everything about a scheme but its formula (fold_in.cpp).
struct SchemeTraits {
  std::string name;     ///< "user-oriented"
  std::string formula;  ///< the weight of an entry, for help texts
  ReadsValues values = ReadsValues::no;
  bool slope = false;  ///< alpha is the slope of a weight of 1 + alpha ..., not the weight
  std::optional<double> unweighted_alpha =
      {};  ///< the alpha with which all weights are 1; none if there is no such alpha
};
/// In the order of Scheme.
const std::vector<SchemeTraits>& schemes();
const SchemeTraits& traits(Scheme scheme);

/// Reads "user-oriented" and the like; Error{usage} for anything else.
Scheme parse_scheme(std::string_view name);
/// "user-oriented".
std::string_view scheme_name(Scheme scheme);

struct WeightingOptions {
  Scheme scheme = Scheme::constant;
  double alpha = 1;
  double epsilon = 1;
  double gamma = 0.5;
  double clip = 10;
  double alpha_negative = 1;
  bool operator==(const WeightingOptions&) const = default;

  /// Whether the weights of the observed entries are 1 for any data.
  [[nodiscard]] bool unweighted() const {
    return scheme == Scheme::none || traits(scheme).unweighted_alpha == alpha;
  }
  /// Whether W = 1 for any data.
  [[nodiscard]] bool uniform() const { return unweighted() && alpha_negative == 1; }
};

/// The parameters of the weights.
std::vector<DeclaredParameter<WeightingOptions>> weighting_parameters();

/// Throws Error{usage}, naming the parameter and its range, unless all options are finite and in range.
void validate(const WeightingOptions& options);

/// Whether the scheme reads the entries' values.
bool reads_values(Scheme scheme);

/// Error{input} if the scheme needs values and the training data have none (`column`). The other schemes that
/// read values then take each as 1.
void check_values(Scheme scheme, bool has_values);

/// Error{usage} if dislikes have a weight of their own, and the training data have none.
void check_dislikes(const WeightingOptions& options, bool has_dislikes);

/// The weights of a training matrix, whose values are r (1 if it has none); counts and means are those of the
/// matrix. A factor that is 1 everywhere is left empty, so that W = 1 is `uniform()` for every scheme. With
/// alpha_negative other than 1, disliked entries join the support of C, with 1 + C_ui = alpha_negative.
///
/// Computed in float64 and rounded to float32 once: a and b first, then C relative to the rounded a and b.
/// `c` is parallel to the indices of X, or of X and the dislikes together. Error{usage} for options out of
/// range, Error{input} for a value that the scheme cannot take or a weight beyond float32; check_values() and
/// check_dislikes() apply. O(entries + rows + cols).
Weights make_weights(const UserRows& X, const WeightingOptions& options, int threads = 1);

/// The caller's own weights: W_ui is the support's value (1 if it has none) on the stored entries of
/// `support`, whether or not X has them, and a_u b_i elsewhere. Empty a or b: all 1. Error{input} unless
/// shapes agree and all weights are positive and finite. O(entries of both + rows + cols).
Weights weights_on_support(CsrView X, CsrView support, std::span<const float> a = {},
                           std::span<const float> b = {});

}  // namespace poise
