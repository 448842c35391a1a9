#include "poise/model/full_rank/kept_inverse.hpp"

#include <algorithm>
#include <cmath>
#include <system_error>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include "poise/base/error.hpp"
#include "poise/base/page_size.hpp"
#include "poise/model/model_content.hpp"
#include "poise/storage/container.hpp"

namespace poise {

namespace {

constexpr const char* format_name = "poise-inverse";
constexpr const char* format_version = "1";
constexpr std::int64_t rows_at_once = 64;

std::filesystem::path staged_path(const std::filesystem::path& model) {
  std::filesystem::path path = kept_inverse_path(model);
  path += ".next";
  return path;
}

template <class T>
Tensor tensor_of_matrix(const Matrix<T>& matrix) {
  const auto view = matrix.view();
  const std::span values(view.data, static_cast<std::size_t>(view.rows * view.cols));
  return {.name = "A_inverse",
          .type = std::is_same_v<T, float> ? ElementType::f32 : ElementType::f64,
          .shape = {view.rows, view.cols},
          .bytes = std::as_bytes(values)};
}

/// A matrix of finite numbers, copied from the file, which may go.
template <class T>
Matrix<T> read_matrix(const Container& file, std::int64_t items, int threads) {
  const std::span<const T> values = file.elements<T>("A_inverse");
  expect_sound(file, std::ssize(values) == items * items, "its inverse has another size");
  Matrix<T> matrix = Matrix<T>::uninitialized(items, items);
  for_each_row({items, rows_at_once}, threads, [&](std::int64_t i) {
    const auto row = values.subspan(i * items, items);
    expect_sound(file, std::ranges::all_of(row, [](T value) { return std::isfinite(value); }),
                 "its inverse has an entry that is not finite");
    std::ranges::copy(row, matrix.row(i).begin());
  });
  return matrix;
}

}  // namespace

KeptInverse keep_inverse(const FullRankFit& fit, FullRankBasis& basis, TrainingCounts counts, bool weighted) {
  KeptInverse kept{.counts = std::move(counts),
                   .condition = fit.condition,
                   .float64 = fit.float64,
                   .h = fit.solutions.front().h,
                   .A_inverse = {}};
  basis.inverse<float>().scores.reset();
  basis.inverse<double>().scores.reset();
  if (fit.float64) {
    kept.A_inverse = basis.inverse<double>().matrix.take();
  } else if (weighted) {
    kept.A_inverse = basis.inverse<float>().matrix.take();
  }
  return kept;
}

template <class T>
Resident<T> extended_inverse(KeptInverse& kept, MatrixView<const float> B, bool zero_diagonal,
                             const std::vector<double>& l, std::span<const double> further, Backend& backend,
                             int threads) {
  const std::int64_t before = B.rows;
  const std::int64_t items = before + std::ssize(further);
  if (!kept.follows_from_B() && before == items)
    return Resident<T>(backend, std::get<Matrix<T>>(std::exchange(kept.A_inverse, {})));
  // Off the diagonal B_ji is -l_i (A^-1)_ji, or -(A^-1)_ji / (A^-1)_ii with a zero diagonal.
  std::vector<double> factor(before);
  for (std::int64_t i = 0; i < before; ++i) factor[i] = zero_diagonal ? -kept.h[i] : -1 / l[i];
  Matrix<T> extended = Matrix<T>::uninitialized(items, items);
  choose_page_size(extended.view().data, static_cast<std::size_t>(items * items) * sizeof(T));
  for_each_row({items, rows_at_once}, threads, [&](std::int64_t j) {
    const std::span<T> row = extended.row(j);
    std::fill(row.begin() + (j < before ? before : 0), row.end(), T{0});
    if (j >= before) {
      row[j] = static_cast<T>(1 / further[j - before]);
    } else if (const auto* const matrix = std::get_if<Matrix<T>>(&kept.A_inverse)) {
      std::ranges::copy(matrix->row(j), row.begin());
    } else {
      for (std::int64_t i = 0; i < before; ++i)
        row[i] = static_cast<T>(factor[i] * static_cast<double>(B(j, i)));
      row[j] = static_cast<T>(kept.h[j]);
    }
  });
  kept.A_inverse = {};
  return Resident<T>(backend, std::move(extended));
}

std::filesystem::path kept_inverse_path(const std::filesystem::path& model) {
  std::filesystem::path path = model;
  path += ".inverse";
  return path;
}

std::uint64_t kept_inverse_bytes(std::int64_t items, bool weighted, bool float64) {
  const auto n = static_cast<std::uint64_t>(items);
  const std::uint64_t matrix = float64 ? sizeof(double) : weighted ? sizeof(float) : 0;
  return n * n * matrix + n * (sizeof(double) + sizeof(std::int64_t));
}

StagedInverse::StagedInverse(std::filesystem::path model, const KeptInverse& kept, int threads)
    : model_(std::move(model)) {
  const auto items = static_cast<std::int64_t>(kept.h.size());
  std::vector<Tensor> tensors = {tensor_of("h", ElementType::f64, kept.h, {items}),
                                 tensor_of("item_users", ElementType::i64, kept.counts.item_users, {items})};
  if (const auto* const single = std::get_if<Matrix<float>>(&kept.A_inverse))
    tensors.push_back(tensor_of_matrix(*single));
  if (const auto* const wide = std::get_if<Matrix<double>>(&kept.A_inverse))
    tensors.push_back(tensor_of_matrix(*wide));
  const Metadata metadata = {{"format", format_name},
                             {"version", format_version},
                             {"condition", fmt::format("{}", kept.condition)},
                             {"float64", kept.float64 ? "true" : "false"},
                             {"users", fmt::format("{}", kept.counts.users)},
                             {"reference", fmt::format("{}", kept.counts.reference)}};
  const std::filesystem::path path = staged_path(model_);
  write_container(path, metadata, tensors, threads, true);
  checksum_ = Container::peek(path).checksum();
}

StagedInverse::~StagedInverse() {
  std::error_code ignored;
  if (!published_) std::filesystem::remove(staged_path(model_), ignored);
}

void StagedInverse::publish() {
  std::error_code error;
  std::filesystem::rename(staged_path(model_), kept_inverse_path(model_), error);
  if (error)
    fail_on_file(ErrorKind::resources, "cannot write {}: {}", kept_inverse_path(model_).string(),
                 error.message());
  published_ = true;
}

KeptInverse read_kept_inverse(const std::filesystem::path& model, const std::string& checksum,
                              std::int64_t items, int threads) {
  const std::filesystem::path path = kept_inverse_path(model);
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored))
    fail_on_file(ErrorKind::input,
                 "{} is missing, which belongs beside {}; put it there, or train the model again with {}",
                 path.string(), model.string(), "keep-inverse"_p);
  const Container file = Container::open(path, threads);
  const auto& metadata = file.metadata();
  if (const auto format = metadata.find("format"); format == metadata.end() || format->second != format_name)
    fail(ErrorKind::input, "{} is no kept inverse", file.name());
  if (file.metadata("version") != format_version)
    fail(ErrorKind::input, "{} was written by a newer Poise (version {}); train the model again or upgrade",
         file.name(), file.metadata("version"));
  if (file.checksum() != checksum)
    fail(ErrorKind::input, "{} belongs to another model than {}; train the model again with {}", file.name(),
         model.string(), "keep-inverse"_p);
  KeptInverse kept;
  try {
    kept.condition = std::stod(file.metadata("condition"));
    kept.counts.users = std::stoll(file.metadata("users"));
    kept.counts.reference = std::stoll(file.metadata("reference"));
  } catch (const std::logic_error&) {
    expect_sound(file, false, "its figures cannot be read");
  }
  kept.float64 = file.metadata("float64") == "true";
  const auto h = file.elements<double>("h");
  const auto counts = file.elements<std::int64_t>("item_users");
  expect_sound(file, std::ssize(h) == items && std::ssize(counts) == items, "it has another number of items");
  expect_sound(file, kept.counts.reference >= 0 && kept.counts.reference <= items && kept.counts.users >= 0,
               "its counts do not fit together");
  expect_sound(file, std::ranges::all_of(h, [](double value) { return std::isfinite(value) && value > 0; }),
               "its diagonal is not positive");
  expect_sound(file, std::ranges::all_of(counts, [](std::int64_t count) { return count >= 0; }),
               "a count is negative");
  kept.h.assign(h.begin(), h.end());
  kept.counts.item_users.assign(counts.begin(), counts.end());
  if (file.has("A_inverse")) {
    if (kept.float64) {
      kept.A_inverse = read_matrix<double>(file, items, threads);
    } else {
      kept.A_inverse = read_matrix<float>(file, items, threads);
    }
  }
  expect_sound(file, !kept.float64 || !kept.follows_from_B(), "its inverse is missing");
  return kept;
}

template Resident<float> extended_inverse<float>(KeptInverse&, MatrixView<const float>, bool,
                                                 const std::vector<double>&, std::span<const double>,
                                                 Backend&, int);
template Resident<double> extended_inverse<double>(KeptInverse&, MatrixView<const float>, bool,
                                                   const std::vector<double>&, std::span<const double>,
                                                   Backend&, int);

}  // namespace poise
