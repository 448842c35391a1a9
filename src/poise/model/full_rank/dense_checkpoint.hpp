#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "poise/backend/backend.hpp"
#include "poise/model/full_rank/dense_parts.hpp"
#include "poise/model/full_rank/fit.hpp"
#include "poise/model/round_observer.hpp"
#include "poise/solver/column_share.hpp"
#include "poise/solver/round_news.hpp"

namespace poise {

/// Saves A^-1 and solved columns of a dense full-rank fit, and takes them over in the next run, which may
/// have another number of processes. With the same number the model has the bytes of a run that nothing
/// interrupted.
///
/// The first process alone reads and writes the folder: rows of A^-1 pass through it some hundred at a time,
/// and solved columns come with the messages that begin a round of products (RoundNews), so that nobody waits
/// for another one's block. All processes call it together, except save().
class DenseCheckpoint {
 public:
  /// `share`: null for one process. If the observer is a RoundObserver, a request to stop during keep() ends
  /// the present block first.
  DenseCheckpoint(const std::filesystem::path& folder, std::string key, std::int64_t items,
                  const ColumnShare* share, Observer* observer);

  template <class T>
  [[nodiscard]] bool has_inverse() const;
  /// Row k of `rows` becomes A^-1 e_i, i = share.own()[k]. Sets condition and trace of the result.
  template <class T>
  void load_inverse(Out<T> rows, Backend& backend, FullRankFit& result) const;
  /// The figures of the result are those of all processes. What a fit in float32 left is removed by one in
  /// float64.
  template <class T>
  void save_inverse(In<T> rows, Backend& backend, const FullRankFit& result) const;

  /// The saved columns of this process, block by block; blocks may be empty.
  template <class T>
  void load_columns(const std::function<void(const SolvedColumns&)>& take) const;

  /// Between keep() and end(), a request to stop waits for the end of the present block.
  void keep(std::size_t number_bytes);
  /// Whether no further block is to be begun.
  [[nodiscard]] bool stops() const;
  /// Saves a block, at once or in the next round.
  void save(const SolvedColumns& block);
  /// Error{interrupted} if it was asked to stop.
  void end();

  /// For SpreadInverse.
  [[nodiscard]] RoundNews* news() { return &news_; }

 private:
  [[nodiscard]] bool first() const { return share_ == nullptr || share_->processes().first(); }
  [[nodiscard]] int rank() const { return share_ == nullptr ? 0 : share_->processes().rank(); }
  [[nodiscard]] int owner(std::int64_t item) const { return share_ == nullptr ? 0 : share_->owner(item); }
  [[nodiscard]] std::int64_t place(std::int64_t item) const {
    return share_ == nullptr ? item : share_->place(item);
  }
  /// The first process' bytes, at all of them.
  [[nodiscard]] std::string shared(std::string bytes) const;
  /// Calls body with the owner and the range of items of each run of rows of one owner within [first, last).
  template <class Body>
  void for_each_run(std::int64_t first, std::int64_t last, const Body& body) const;
  void write(const SolvedColumns& block) const { parts_->write_block(block, number_bytes_); }

  std::int64_t items_;
  const ColumnShare* share_;
  RoundObserver* observer_;
  std::optional<DenseParts> parts_;  ///< of the first process
  std::size_t number_bytes_ = sizeof(float);
  std::vector<std::string> waiting_;  ///< blocks on their way to the first process
  RoundNews news_;
};

/// A part of a fit's figures.
void add_trace(FullRankFit& result, const IterationTrace& trace);

}  // namespace poise
