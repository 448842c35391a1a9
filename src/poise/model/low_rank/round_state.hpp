#pragma once

#include <map>
#include <string>

#include "poise/backend/resident.hpp"
#include "poise/linalg/matrix.hpp"

namespace poise {

/// All that further rounds depend on, by name: what a checkpoint holds. Copies of matrices; a number is a
/// matrix of one entry.
struct RoundState {
  std::map<std::string, Matrix<float>> factors = {};
  std::map<std::string, Matrix<double>> numbers = {};

  void put(const std::string& name, double number) { numbers[name] = Matrix<double>(1, 1, number); }
  [[nodiscard]] double number(const std::string& name) const { return numbers.at(name)(0, 0); }

  /// A matrix that may be empty.
  void put(const std::string& name, const Resident<float>& matrix) { factors[name] = matrix.home(); }
  [[nodiscard]] Resident<float> factor(const std::string& name, Backend& backend) const {
    return {backend, factors.at(name).view()};
  }
};

}  // namespace poise
