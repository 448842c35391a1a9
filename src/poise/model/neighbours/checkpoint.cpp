#include "poise/model/neighbours/checkpoint.hpp"

#include <algorithm>
#include <optional>
#include <system_error>

#include <fmt/format.h>

#include "poise/base/error.hpp"
#include "poise/base/parallel.hpp"
#include "poise/storage/container.hpp"

namespace poise {
namespace {

constexpr std::int64_t numbers_per_column = sizeof(NeighbourFigures) / sizeof(double);
constexpr const char* part_prefix = "columns-";
constexpr const char* part_suffix = ".part";

/// The part as it lies on disk; none where it is missing or damaged.
std::optional<Container> open_part(const std::filesystem::path& path, int threads) {
  try {
    if (std::filesystem::exists(path)) return Container::open(path, threads);
  } catch (const Error&) {
    // It is made again.
  }
  return {};
}

}  // namespace

NeighbourCheckpoint::NeighbourCheckpoint(std::filesystem::path folder, std::string key)
    : folder_(std::move(folder)), key_(std::move(key)) {
  std::error_code error;
  std::filesystem::create_directories(folder_, error);
  if (error)
    fail_on_file(ErrorKind::resources, "cannot make the folder {}: {}", folder_.string(), error.message());
}

std::filesystem::path NeighbourCheckpoint::part(std::int64_t first) const {
  return folder_ / fmt::format("{}{:010}{}", part_prefix, first, part_suffix);
}

std::string NeighbourCheckpoint::load(NeighbourSolution& solution, int threads) const {
  NeighbourColumns& columns = solution.columns;
  const Tiling parts{columns.count, columns_per_part};
  std::string known(static_cast<std::size_t>(parts.tiles()), 0);
  for (std::int64_t p = 0; p < parts.tiles(); ++p) {
    const std::int64_t first = parts.first(p);
    const std::optional<Container> file = open_part(part(first), threads);
    if (!file) continue;
    if (file->metadata("key") != key_)
      fail(ErrorKind::usage,
           "{} holds columns of another model, other data or another version; give another folder for {}, or "
           "remove it",
           folder_.string(), "checkpoint"_p);
    const auto items = file->elements<std::int32_t>("items");
    const auto values = file->elements<float>("values");
    const auto figures = file->elements<double>("figures");
    const std::int64_t count = parts.last(p) - first;
    if (std::ssize(items) != count * columns.k || std::ssize(values) != count * columns.k ||
        std::ssize(figures) != count * numbers_per_column)
      continue;
    std::ranges::copy(items, columns.items.begin() + first * columns.k);
    std::ranges::copy(values, columns.values.begin() + first * columns.k);
    for (std::int64_t c = 0; c < count; ++c) {
      const double* const of_column = figures.data() + c * numbers_per_column;
      solution.figures[first + c] = {of_column[0], of_column[1], of_column[2], of_column[3]};
    }
    known[static_cast<std::size_t>(p)] = 1;
  }
  return known;
}

void NeighbourCheckpoint::save(const NeighbourSolution& solution, std::int64_t first,
                               std::int64_t last) const {
  const NeighbourColumns& columns = solution.columns;
  const std::int64_t count = last - first;
  const auto items = std::span(columns.items).subspan(first * columns.k, count * columns.k);
  const auto values = std::span(columns.values).subspan(first * columns.k, count * columns.k);
  const auto figures = std::span(solution.figures).subspan(first, count);
  const Tensor tensors[] = {
      {"figures", ElementType::f64, {count, numbers_per_column}, std::as_bytes(figures)},
      {"items", ElementType::i32, {count, columns.k}, std::as_bytes(items)},
      {"values", ElementType::f32, {count, columns.k}, std::as_bytes(values)}};
  write_container(part(first), {{"format", "poise-neighbours"}, {"key", key_}}, tensors, 1);
}

void NeighbourCheckpoint::remove(const std::filesystem::path& folder) {
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(part_prefix) && name.ends_with(part_suffix))
      std::filesystem::remove(entry.path(), ignored);
  }
  std::filesystem::remove(folder, ignored);  // where it is empty
}

}  // namespace poise
