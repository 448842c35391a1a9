#include "poise/solver/column_share.hpp"

#include <algorithm>
#include <cstring>

#include "poise/comm/packed.hpp"

namespace poise {

namespace {

constexpr std::int64_t largest_tile = 128;
constexpr std::int64_t smallest_tile = 8;
constexpr std::int64_t tiles_each = 4;

template <class T>
std::string bytes_of(std::span<const T> numbers) {
  return {reinterpret_cast<const char*>(numbers.data()), numbers.size_bytes()};
}

/// Added up at the first process and sent back: a sum of a few small vectors.
template <class T>
void add_up_at_first(std::span<T> numbers, Processes& processes) {
  std::string message = bytes_of(std::span<const T>(numbers));
  if (!processes.first()) {
    processes.send(0, std::move(message));
    message = processes.broadcast({});
  } else {
    for (int rank = 1; rank < processes.size(); ++rank) {
      const std::string part = processes.receive(rank).bytes;
      const T* const from = reinterpret_cast<const T*>(part.data());
      for (std::size_t k = 0; k < numbers.size(); ++k) numbers[k] += from[k];
    }
    message = processes.broadcast(bytes_of(std::span<const T>(numbers)));
  }
  if (!numbers.empty()) std::memcpy(numbers.data(), message.data(), message.size());
}

}  // namespace

std::int64_t column_tile(std::int64_t items, int processes) {
  const std::int64_t fair = items / (tiles_each * processes) / smallest_tile * smallest_tile;
  return std::clamp(fair, smallest_tile, largest_tile);
}

ColumnShare::ColumnShare(std::int64_t items, Processes& processes)
    : items_(items), processes_(processes), tile_(column_tile(items, processes.size())) {
  own_ = of(processes.rank());
}

std::vector<std::int32_t> ColumnShare::of(int rank) const {
  std::vector<std::int32_t> columns;
  for (std::int64_t first = rank * tile_; first < items_; first += tile_ * processes_.size()) {
    for (std::int64_t i = first; i < std::min(first + tile_, items_); ++i)
      columns.push_back(static_cast<std::int32_t>(i));
  }
  return columns;
}

std::vector<std::int32_t> ColumnShare::places(std::span<const std::int32_t> items) const {
  std::vector<std::int32_t> result;
  for (const std::int32_t item : items) result.push_back(place(item));
  return result;
}

void ColumnShare::add_up(std::span<double> numbers) const { add_up_at_first(numbers, processes_); }
void ColumnShare::add_up(std::span<float> numbers) const { add_up_at_first(numbers, processes_); }

void ColumnShare::join(std::span<double> of_items) const {
  for (std::int64_t i = 0; i < items_; ++i) {
    if (owner(i) != processes_.rank()) of_items[i] = 0;
  }
  add_up(of_items);
}

template <class T>
Matrix<T> ColumnShare::join_rows(const Matrix<T>& own) const {
  const std::span<const T> numbers(own.view().data, static_cast<std::size_t>(own.rows() * own.cols()));
  const std::vector<std::string> parts = processes_.all_gather(bytes_of(numbers));
  Matrix<T> all(items_, own.cols());
  for (int rank = 0; rank < processes_.size(); ++rank) {
    const char* from = parts[static_cast<std::size_t>(rank)].data();
    for (const std::int32_t i : of(rank)) {
      std::memcpy(all.row(i).data(), from, all.row(i).size_bytes());
      from += all.row(i).size_bytes();
    }
  }
  return all;
}

double ColumnShare::largest(double number) const {
  double result = number;
  for (const std::string& each : processes_.all_gather(bytes_of(std::span<const double>(&number, 1))))
    result = std::max(result, values_of<double>(each).front());
  return result;
}

template Matrix<float> ColumnShare::join_rows(const Matrix<float>&) const;
template Matrix<double> ColumnShare::join_rows(const Matrix<double>&) const;

}  // namespace poise
