#include "poise/model/neighbours/finished_columns.hpp"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "poise/base/parallel.hpp"
#include "poise/comm/packed.hpp"

namespace poise {
namespace {

/// Elements [first, last) of a vector, as bytes, and back.
template <class T>
std::string part_of(const std::vector<T>& all, std::int64_t first, std::int64_t last) {
  static_assert(std::is_trivially_copyable_v<T>);
  return {reinterpret_cast<const char*>(all.data() + first),
          static_cast<std::size_t>(last - first) * sizeof(T)};
}
template <class T>
void put_part(const std::string& bytes, std::vector<T>& all, std::int64_t first) {
  if (!bytes.empty()) std::memcpy(all.data() + first, bytes.data(), bytes.size());
}

Tiling parts_of(std::int64_t columns) { return {columns, NeighbourCheckpoint::columns_per_part}; }

/// One of equal shares of the columns whose parts are not known, in order.
std::vector<ColumnRun> share_of(const std::string& known, std::int64_t columns, int rank, int processes) {
  const Tiling parts = parts_of(columns);
  std::vector<ColumnRun> runs;
  std::int64_t all = 0;
  for (std::int64_t p = 0; p < parts.tiles(); ++p) {
    if (known[static_cast<std::size_t>(p)] != 0) continue;
    all += parts.last(p) - parts.first(p);
    if (!runs.empty() && runs.back().last == parts.first(p))
      runs.back().last = parts.last(p);
    else
      runs.push_back({parts.first(p), parts.last(p)});
  }
  std::int64_t skipped = all * rank / processes;
  std::int64_t wanted = all * (rank + 1) / processes - skipped;
  std::vector<ColumnRun> own;
  for (const ColumnRun& run : runs) {
    const std::int64_t first = std::min(run.last, run.first + skipped);
    const std::int64_t last = std::min(run.last, first + wanted);
    skipped -= first - run.first;
    wanted -= last - first;
    if (last > first) own.push_back({first, last});
  }
  return own;
}

}  // namespace

FinishedColumns::FinishedColumns(std::vector<NeighbourSolution>& solutions,
                                 const NeighbourCheckpoint* checkpoint, Processes* processes)
    : solutions_(solutions), checkpoint_(checkpoint), processes_(processes) {}

std::vector<ColumnRun> FinishedColumns::begin(int threads) {
  const std::int64_t columns = solutions_.front().columns.count;
  const Tiling parts = parts_of(columns);
  std::string known(static_cast<std::size_t>(parts.tiles()), 0);
  if (first() && checkpoint_ != nullptr) known = checkpoint_->load(solutions_.front(), threads);
  if (processes_ != nullptr) known = processes_->broadcast(std::move(known));
  for (std::int64_t p = 0; p < parts.tiles(); ++p) {
    const std::int64_t count = parts.last(p) - parts.first(p);
    const bool is_known = known[static_cast<std::size_t>(p)] != 0;
    (is_known ? resumed_ : missing_) += count;
    missing_of_.push_back(is_known ? 0 : count);
  }
  const bool several = processes_ != nullptr;
  return share_of(known, columns, several ? processes_->rank() : 0, several ? processes_->size() : 1);
}

std::string FinishedColumns::message_of(ColumnRun run) const {
  std::vector<std::string> parts = {bytes_of(std::vector{run.first, run.last})};
  for (const auto& [columns, figures] : solutions_) {
    parts.push_back(part_of(columns.items, run.first * columns.k, run.last * columns.k));
    parts.push_back(part_of(columns.values, run.first * columns.k, run.last * columns.k));
    parts.push_back(part_of(figures, run.first, run.last));
  }
  return packed(parts);
}

void FinishedColumns::take(const std::string& message) {
  const std::vector<std::string> parts = unpacked(message);
  const std::vector<std::int64_t> run = values_of<std::int64_t>(parts.at(0));
  std::size_t at = 1;
  for (auto& [columns, figures] : solutions_) {
    put_part(parts.at(at++), columns.items, run.at(0) * columns.k);
    put_part(parts.at(at++), columns.values, run.at(0) * columns.k);
    put_part(parts.at(at++), figures, run.at(0));
  }
  book({run.at(0), run.at(1)});
}

void FinishedColumns::book(ColumnRun run) {
  const std::int64_t part = run.first / NeighbourCheckpoint::columns_per_part;
  std::int64_t& missing = missing_of_.at(static_cast<std::size_t>(part));
  missing -= run.last - run.first;
  missing_ -= run.last - run.first;
  const Tiling parts = parts_of(solutions_.front().columns.count);
  if (missing == 0 && checkpoint_ != nullptr)
    checkpoint_->save(solutions_.front(), parts.first(part), parts.last(part));
}

void FinishedColumns::add(ColumnRun run) {
  if (!first()) return processes_->send(0, message_of(run));
  book(run);
  if (processes_ == nullptr) return;
  while (const auto message = processes_->poll()) take(message->bytes);
}

void FinishedColumns::end() {
  if (processes_ == nullptr) return;
  if (!first()) return processes_->flush();
  while (missing_ > 0) take(processes_->receive().bytes);
}

}  // namespace poise
