#include "poise/model/full_rank/spread_full_rank.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "poise/backend/backend.hpp"
#include "poise/backend/resident.hpp"
#include "poise/comm/packed.hpp"
#include "poise/model/full_rank/full_rank.hpp"

namespace poise {

namespace {

/// An entry of B on its way to the first process.
struct KeptEntry {
  std::int32_t row;
  std::int32_t column;
  float value;
};

std::string bytes_of_rows(MatrixView<const float> matrix) {
  return {reinterpret_cast<const char*>(matrix.data), sizeof(float) * matrix.rows * matrix.cols};
}

}  // namespace

void SpreadFullRank::ask(Request request, std::int64_t first, std::int64_t count,
                         const CsrView* histories) const {
  std::vector<std::string> parts = {std::string(1, static_cast<char>(request)),
                                    bytes_of(std::vector<std::int64_t>{first, count})};
  if (histories != nullptr) {
    std::vector<std::int64_t> sizes;
    std::vector<std::int32_t> items;
    for (std::int64_t u = 0; u < histories->rows; ++u) {
      const auto row = histories->row(u);
      sizes.push_back(std::ssize(row));
      items.insert(items.end(), row.begin(), row.end());
    }
    parts.push_back(bytes_of(sizes));
    parts.push_back(bytes_of(items));
  }
  static_cast<void>(share_.processes().broadcast(packed(parts)));
}

Matrix<float> SpreadFullRank::own_scores(CsrView histories) const {
  const auto backend = make_backend(BackendKind::cpu, 1);
  Matrix<float> scores(histories.rows, B_.cols());
  Borrowed<float> there(*backend, scores.view());
  backend->spmm(support_of(histories), Lent(*backend, B_).view(), there.view());
  there.give_back();
  return scores;
}

void SpreadFullRank::gather(MatrixView<const float> own, MatrixView<float> to) const {
  const std::vector<std::string> parts = share_.processes().gather(bytes_of_rows(own));
  for (std::size_t rank = 0; rank < parts.size(); ++rank) {
    const std::vector<std::int32_t> items = share_.of(static_cast<int>(rank));
    const char* from = parts[rank].data();
    for (std::int64_t r = 0; r < to.rows; ++r) {
      for (std::size_t k = 0; k < items.size();) {  // a tile of columns at a time
        const std::size_t count = std::min<std::size_t>(items.size() - k, share_.tile());
        std::memcpy(&to(r, items[k]), from, sizeof(float) * count);
        from += sizeof(float) * count;
        k += count;
      }
    }
  }
}

ScoreRows SpreadFullRank::on(Backend& backend, const Execution& /*execution*/) const {
  return [this, &backend](const UserRows& histories, std::int64_t first, Out<float> scores) {
    refuse_dislike_share(histories);  // such a model is scored only where it is trained
    const CsrView some = histories.items.block(first, scores.rows);
    ask(Request::scores, 0, some.rows, &some);
    Matrix<float> all(scores.rows, scores.cols);
    gather(std::as_const(*this).own_scores(some).view(), all.view());
    backend.upload(all.view(), scores);
  };
}

void SpreadFullRank::read_rows(std::int64_t first, MatrixView<float> to) const {
  ask(Request::rows, first, to.rows);
  gather(B_.view().block(first, to.rows), to);
}

std::string SpreadFullRank::own_top(std::int64_t per_column, int threads) const {
  const Csr top = poise::keep_top(B_.view(), per_column, threads);
  std::string bytes;
  bytes.reserve(sizeof(KeptEntry) * top.indices.size());
  for (std::int64_t j = 0; j < top.rows; ++j) {
    const auto columns = top.view().row(j);
    const auto values = top.view().row_values(j);
    for (std::size_t e = 0; e < columns.size(); ++e) {
      const KeptEntry entry{static_cast<std::int32_t>(j), share_.own()[columns[e]], values[e]};
      bytes.append(reinterpret_cast<const char*>(&entry), sizeof entry);
    }
  }
  return bytes;
}

Csr SpreadFullRank::keep_top(std::int64_t per_column, int threads) const {
  if (per_column < 1) return poise::keep_top({}, per_column, threads);
  ask(Request::top, 0, per_column);
  // By columns: those of a process come together, in the order of rows, and the transposed matrix has both in
  // order.
  Csr columns{.rows = items(), .cols = items(), .offsets = std::vector<std::int64_t>(items() + 1, 0)};
  std::vector<std::string> parts = share_.processes().gather(own_top(per_column, threads));
  const auto for_each = [&](const auto& body) {
    for (const std::string& part : parts) {
      for (std::size_t at = 0; at < part.size(); at += sizeof(KeptEntry)) {
        KeptEntry entry{};
        std::memcpy(&entry, part.data() + at, sizeof entry);
        body(entry);
      }
    }
  };
  for_each([&](const KeptEntry& entry) { ++columns.offsets[entry.column + 1]; });
  for (std::int64_t i = 0; i < items(); ++i) columns.offsets[i + 1] += columns.offsets[i];
  std::vector<std::int64_t> next(columns.offsets.begin(), columns.offsets.end() - 1);
  columns.indices.resize(columns.offsets.back());
  columns.values.resize(columns.offsets.back());
  for_each([&](const KeptEntry& entry) {
    columns.indices[next[entry.column]] = entry.row;
    columns.values[next[entry.column]++] = entry.value;
  });
  parts = {};
  return transpose(columns.view());
}

void SpreadFullRank::release() const { ask(Request::end); }

void SpreadFullRank::serve(int threads) const {
  Processes& processes = share_.processes();
  for (;;) {
    const std::vector<std::string> parts = unpacked(processes.broadcast({}));
    const std::vector<std::int64_t> numbers = values_of<std::int64_t>(parts.at(1));
    switch (static_cast<Request>(parts.at(0).at(0))) {
      case Request::end:
        return;
      case Request::rows:
        static_cast<void>(processes.gather(bytes_of_rows(B_.view().block(numbers[0], numbers[1]))));
        break;
      case Request::top:
        static_cast<void>(processes.gather(own_top(numbers[1], threads)));
        break;
      case Request::scores: {
        Csr histories{.rows = numbers[1], .cols = items(), .offsets = {0}};
        for (const std::int64_t size : values_of<std::int64_t>(parts.at(2)))
          histories.offsets.push_back(histories.offsets.back() + size);
        const auto indices = values_of<std::int32_t>(parts.at(3));
        histories.indices.assign(indices.begin(), indices.end());
        static_cast<void>(
            processes.gather(bytes_of_rows(std::as_const(*this).own_scores(histories.view()).view())));
        break;
      }
    }
  }
}

}  // namespace poise
