#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "poise/model/neighbours/column_ridge.hpp"
#include "poise/model/neighbours/problem.hpp"

namespace poise {

/// A model with neighbours and what is known of its columns.
struct NeighbourSolution {
  NeighbourColumns columns;
  std::vector<NeighbourFigures> figures;  ///< of each column
};

/// Finished columns on disk, in parts of a fixed size, each a container of its own (storage/container.hpp)
/// that appears whole or not at all: training that was interrupted, or killed, goes on with the others.
class NeighbourCheckpoint {
 public:
  static constexpr std::int64_t columns_per_part = 1024;

  /// `key` is all that decides what the columns are.
  NeighbourCheckpoint(std::filesystem::path folder, std::string key);

  /// Takes over the parts that are there and sound; returns a mark for each part, 1 or, where it is missing
  /// or damaged, 0. Error{usage} where the folder holds those of another training.
  std::string load(NeighbourSolution& solution, int threads) const;
  /// Writes columns [first, last); `first` is a multiple of columns_per_part. Error{resources} where the disk
  /// is full, say; what was written before stays.
  void save(const NeighbourSolution& solution, std::int64_t first, std::int64_t last) const;

  /// Removes the parts, and the folder where nothing else lies in it.
  static void remove(const std::filesystem::path& folder);

 private:
  [[nodiscard]] std::filesystem::path part(std::int64_t first) const;

  std::filesystem::path folder_;
  std::string key_;
};

}  // namespace poise
