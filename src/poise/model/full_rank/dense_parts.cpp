#include "poise/model/full_rank/dense_parts.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include "poise/base/error.hpp"

namespace poise {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view parts_suffix = ".part";

std::string inverse_prefix(std::size_t number_bytes) { return fmt::format("inverse{}-", 8 * number_bytes); }
std::string columns_prefix(std::size_t number_bytes) { return fmt::format("columns{}-", 8 * number_bytes); }

/// The files of a folder that begin like this, by name.
std::vector<fs::path> files_like(const fs::path& folder, std::string_view prefix) {
  std::vector<fs::path> found;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(prefix) && name.ends_with(parts_suffix)) found.push_back(entry.path());
  }
  std::ranges::sort(found);
  return found;
}

template <class T>
Tensor tensor_of(const std::string& name, ElementType type, const std::vector<T>& values) {
  return {name, type, {std::ssize(values)}, std::as_bytes(std::span(values))};
}

template <class T>
std::vector<T> copied(std::span<const T> values) {
  return {values.begin(), values.end()};
}

Metadata metadata_of(const IterationTrace& trace) {
  return {{"iterations", fmt::format("{}", trace.iterations)}};
}

IterationTrace trace_of(const Container& part) {
  return {.iterations = std::stoll(part.metadata("iterations")),
          .worst = copied(part.elements<double>("worst"))};
}

}  // namespace

DenseParts::DenseParts(fs::path folder, std::string key, int processes)
    : folder_(std::move(folder)), key_(std::move(key)), processes_(fmt::format("{}", processes)) {
  std::error_code error;
  fs::create_directories(folder_, error);
  if (error)
    fail_on_file(ErrorKind::resources, "cannot make the folder {}: {}", folder_.string(), error.message());
}

fs::path DenseParts::inverse_path(std::int64_t first, std::size_t number_bytes) const {
  return folder_ / fmt::format("{}{:010}{}", inverse_prefix(number_bytes), first, parts_suffix);
}

Container DenseParts::open(const fs::path& path) const {
  const auto opened = [&] {
    try {
      return Container::open(path, 1);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::input) throw;
      fail(ErrorKind::input,
           "{} cannot be read, or is damaged; remove it, and what it held is computed again", path.string());
    }
  };
  Container part = opened();
  if (part.metadata("key") != key_)
    fail(ErrorKind::usage,
         "{} holds parts of another model, other data or another version; give another folder for {}, or "
         "remove it",
         folder_.string(), "checkpoint"_p);
  return part;
}

bool DenseParts::has_inverse(std::int64_t n, std::size_t number_bytes) const {
  const std::vector<fs::path> files = files_like(folder_, inverse_prefix(number_bytes));
  if (files.empty()) return false;
  const std::string made_by = open(files.front()).metadata("processes");
  for (std::int64_t first = 0; first < n; first += rows_per_part) {
    const fs::path path = inverse_path(first, number_bytes);
    // What was saved in part is made again.
    if (!fs::exists(path) || Container::peek(path).metadata("processes") != made_by) return false;
  }
  return true;
}

Container DenseParts::inverse_part(std::int64_t first, std::size_t number_bytes) const {
  return open(inverse_path(first, number_bytes));
}

InverseFigures DenseParts::figures_of(const Container& part) {
  return {.condition = std::stod(part.metadata("condition")), .trace = trace_of(part)};
}

template <class T>
void DenseParts::write_inverse_part(std::int64_t first, const Matrix<T>& rows,
                                    const InverseFigures& figures) const {
  const MatrixView<const T> view = rows.view();
  const Tensor tensors[] = {{"rows",
                             std::is_same_v<T, float> ? ElementType::f32 : ElementType::f64,
                             {view.rows, view.cols},
                             std::as_bytes(std::span(view.data, view.rows * view.cols))},
                            tensor_of("worst", ElementType::f64, figures.trace.worst)};
  Metadata metadata = metadata_of(figures.trace);
  metadata.insert({{"format", "poise-inverse"},
                   {"key", key_},
                   {"processes", processes_},
                   {"condition", fmt::format("{}", figures.condition)}});
  write_container(inverse_path(first, sizeof(T)), metadata, tensors, 1);
}

std::vector<fs::path> DenseParts::blocks(std::size_t number_bytes) const {
  return files_like(folder_, columns_prefix(number_bytes));
}

SolvedColumns DenseParts::read_block(const fs::path& path, std::int64_t n) const {
  const Container part = open(path);
  SolvedColumns columns{.items = copied(part.elements<std::int32_t>("items")),
                        .beta = {},
                        .own = copied(part.elements<double>("own")),
                        .direct = part.metadata("route") == "direct",
                        .trace = trace_of(part)};
  const auto beta = part.elements<float>("beta");
  const auto count = std::ssize(columns.items);
  const bool sound = std::ranges::all_of(columns.items, [n](auto i) { return i >= 0 && i < n; }) &&
                     std::ssize(beta) == count * n &&
                     (columns.own.empty() || std::ssize(columns.own) == count);
  if (!sound)
    fail(ErrorKind::input, "{} does not fit together; remove it, and what it held is computed again",
         path.string());
  columns.beta = Matrix<float>::uninitialized(count, n);
  if (!beta.empty()) std::memcpy(columns.beta.view().data, beta.data(), beta.size_bytes());
  return columns;
}

void DenseParts::write_block(const SolvedColumns& columns, std::size_t number_bytes) const {
  const MatrixView<const float> beta = columns.beta.view();
  const Tensor tensors[] = {tensor_of("own", ElementType::f64, columns.own),
                            tensor_of("worst", ElementType::f64, columns.trace.worst),
                            tensor_of("items", ElementType::i32, columns.items),
                            {"beta",
                             ElementType::f32,
                             {beta.rows, beta.cols},
                             std::as_bytes(std::span(beta.data, beta.rows * beta.cols))}};
  Metadata metadata = metadata_of(columns.trace);
  metadata.insert({{"format", "poise-columns"},
                   {"key", key_},
                   {"columns", fmt::format("{}", columns.items.size())},
                   {"route", columns.direct ? "direct" : "iterated"}});
  write_container(
      folder_ / fmt::format("{}{:010}{}", columns_prefix(number_bytes), columns.items.front(), parts_suffix),
      metadata, tensors, 1);
}

void DenseParts::forget(std::size_t number_bytes) const {
  std::error_code ignored;
  for (const std::string& prefix : {inverse_prefix(number_bytes), columns_prefix(number_bytes)}) {
    for (const fs::path& path : files_like(folder_, prefix)) fs::remove(path, ignored);
  }
}

void DenseParts::remove(const fs::path& folder) {
  std::error_code ignored;
  for (const std::size_t number_bytes : {sizeof(float), sizeof(double)}) {
    for (const std::string& prefix : {inverse_prefix(number_bytes), columns_prefix(number_bytes)}) {
      for (const fs::path& path : files_like(folder, prefix)) fs::remove(path, ignored);
    }
  }
  fs::remove(folder, ignored);  // where it is empty
}

std::string DenseParts::found_in(const fs::path& folder) {
  bool inverse = false;
  std::int64_t columns = 0;
  for (const std::size_t number_bytes : {sizeof(float), sizeof(double)}) {
    inverse = inverse || !files_like(folder, inverse_prefix(number_bytes)).empty();
    for (const fs::path& path : files_like(folder, columns_prefix(number_bytes))) {
      try {
        columns += std::stoll(Container::peek(path).metadata("columns"));
      } catch (const std::exception&) {
        continue;  // reading it says what is wrong
      }
    }
  }
  if (columns > 0) return fmt::format("the inverse and {} columns", columns);
  return inverse ? "the inverse, or a part of it," : "";
}

template void DenseParts::write_inverse_part(std::int64_t, const Matrix<float>&, const InverseFigures&) const;
template void DenseParts::write_inverse_part(std::int64_t, const Matrix<double>&,
                                             const InverseFigures&) const;

}  // namespace poise
