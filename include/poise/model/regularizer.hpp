#pragma once

#include <string_view>

namespace poise {

/// R(U, V) of the asymmetric factorization min || sqrt(W) o (X - X U V') ||^2 + R(U, V).
enum class Regularizer {
  weight_decay,       ///< lambda (||U||^2 + ||V||^2)   (the paper's model 1)
  dropout,            ///< lambda ||U V'||^2            (model 3)
  data_weight_decay,  ///< lambda (||X U||^2 + ||V||^2) (model 4)
};

/// "weight-decay", "dropout" or "data-weight-decay".
std::string_view regularizer_name(Regularizer regularizer);

}  // namespace poise
