#include "poise/model/spectrum/cache.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>

#include <fmt/format.h>

#include "poise/base/error.hpp"
#include "poise/base/version.hpp"
#include "poise/comm/packed.hpp"
#include "poise/storage/container.hpp"

namespace poise {
namespace {

constexpr std::int64_t smallest_step = 128;

Metadata metadata_of(const std::string& data_checksum) {
  return {
      {"format", "poise-spectrum"}, {"version", std::string(version())}, {"data_checksum", data_checksum}};
}

bool is_sound(std::span<const double> s, std::span<const float> Q) {
  const auto is_finite = [](auto number) { return std::isfinite(number); };
  return std::ranges::all_of(s, is_finite) && std::ranges::all_of(Q, is_finite) &&
         std::ranges::is_sorted(s, std::greater<>()) && (s.empty() || s.back() >= 0);
}

std::optional<Spectrum> read(const std::filesystem::path& path, const Metadata& wanted, std::int64_t items,
                             std::int64_t pairs, int threads) {
  try {
    const Container file = Container::open(path, threads);
    const std::vector<std::int64_t> shape = {items, pairs};
    const auto s = file.elements<double>("s");
    const auto Q = file.elements<float>("Q");
    if (file.metadata() != wanted || static_cast<std::int64_t>(s.size()) != pairs ||
        file.tensor("Q", ElementType::f32).shape != shape || !is_sound(s, Q))
      return {};
    Spectrum spectrum{{s.begin(), s.end()}, Matrix<float>(items, pairs)};
    std::ranges::copy(Q, spectrum.Q.view().data);
    return spectrum;
  } catch (const Error&) {
    return {};
  }
}

void write(const std::filesystem::path& path, const Metadata& metadata, const Spectrum& spectrum) {
  const MatrixView<const float> Q = spectrum.Q.view();
  const Tensor tensors[] = {
      {"s", ElementType::f64, {spectrum.pairs()}, std::as_bytes(std::span(spectrum.s))},
      {"Q", ElementType::f32, {Q.rows, Q.cols}, std::as_bytes(std::span(Q.data, Q.data + Q.rows * Q.cols))}};
  try {
    write_container(path, metadata, tensors);
  } catch (const Error&) {
    // If the folder cannot be written, the next run only takes longer.
  }
}

/// The first process' pairs at all of them; none if it has none.
std::optional<Spectrum> shared_spectrum(std::optional<Spectrum> own, Processes& processes,
                                        std::int64_t items) {
  std::string message;
  if (processes.first() && own) {
    const MatrixView<const float> Q = own->Q.view();
    message = packed({bytes_of(own->s), bytes_of(std::vector<float>(Q.data, Q.data + Q.rows * Q.cols))});
  }
  message = processes.broadcast(std::move(message));
  if (message.empty()) return {};
  const std::vector<std::string> parts = unpacked(message);
  Spectrum spectrum{values_of<double>(parts.at(0)), {}};
  spectrum.Q = Matrix<float>(items, spectrum.pairs());
  std::ranges::copy(values_of<float>(parts.at(1)), spectrum.Q.view().data);
  return spectrum;
}

}  // namespace

std::int64_t spectrum_step(std::int64_t rank, std::int64_t items) {
  std::int64_t step = smallest_step;
  while (step < std::min(rank, items)) step *= 2;
  return std::min(step, items);
}

Spectrum cached_spectrum(const std::filesystem::path& folder, const std::string& data_checksum, CsrView X,
                         std::int64_t rank, Backend& backend, const Execution& execution,
                         Processes* processes) {
  const std::int64_t pairs = spectrum_step(rank, X.cols);
  const std::filesystem::path path = folder / fmt::format("spectrum-{}.poise", pairs);
  const Metadata metadata = metadata_of(data_checksum);
  const bool first = processes == nullptr || processes->first();
  std::optional<Spectrum> cached;
  if (first) cached = read(path, metadata, X.cols, pairs, execution.threads);
  // Hosts may have folders of their own: what the others find there is not asked.
  if (processes != nullptr) cached = shared_spectrum(std::move(cached), *processes, X.cols);
  if (cached) return std::move(*cached);
  Spectrum spectrum = top_spectrum(X, {}, pairs, backend, execution);
  if (first) write(path, metadata, spectrum);
  return spectrum;
}

}  // namespace poise
