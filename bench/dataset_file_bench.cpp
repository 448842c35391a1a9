#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <numeric>
#include <random>

#include <benchmark/benchmark.h>

#include "poise/data/dataset_file.hpp"
#include "poise/data/packed_matrix.hpp"

namespace {

namespace fs = std::filesystem;

constexpr std::int64_t users = 463'435;
constexpr std::int64_t items = 17'769;
constexpr double interactions = 56.9e6;

/// A matrix of the Netflix prize's shape: lognormal activity with mean 123, Zipf-like popularity with a
/// flattened head, items numbered independently of popularity.
poise::Csr netflix_shaped() {
  std::mt19937_64 random(1);
  std::vector<std::int32_t> number(items);
  std::iota(number.begin(), number.end(), 0);
  std::shuffle(number.begin(), number.end(), random);
  // Walker's alias table: one draw costs one step for any distribution.
  std::vector<double> share(items);
  for (std::int64_t k = 0; k < items; ++k) share[k] = std::pow(static_cast<double>(k) + 100.0, -1.2);
  const double total = std::accumulate(share.begin(), share.end(), 0.0);
  for (double& s : share) s *= items / total;
  std::vector<std::int32_t> alias(items);
  std::vector<std::int32_t> small;
  std::vector<std::int32_t> large;
  for (std::int32_t k = 0; k < items; ++k) (share[k] < 1.0 ? small : large).push_back(k);
  while (!small.empty() && !large.empty()) {
    const std::int32_t low = small.back();
    const std::int32_t high = large.back();
    small.pop_back();
    alias[low] = high;
    share[high] -= 1.0 - share[low];
    if (share[high] < 1.0) {
      large.pop_back();
      small.push_back(high);
    }
  }
  for (const std::int32_t k : small) share[k] = 1.0;
  for (const std::int32_t k : large) share[k] = 1.0;

  std::lognormal_distribution<double> activity(-0.5, 1.0);  // mean 1
  std::vector<double> size(users);
  for (double& s : size) s = activity(random);
  const double scale = interactions / std::accumulate(size.begin(), size.end(), 0.0);
  std::uniform_int_distribution<std::int32_t> any_item(0, items - 1);
  std::uniform_real_distribution<double> unit;
  poise::Csr matrix{.rows = users, .cols = items, .offsets = {0}};
  matrix.indices.reserve(static_cast<std::size_t>(interactions * 1.02));
  std::vector<std::int32_t> drawn_for(items, -1);
  for (std::int64_t u = 0; u < users; ++u) {
    const auto wanted = std::clamp<std::int64_t>(std::llround(size[u] * scale), 1, items / 4);
    for (std::int64_t drawn = 0; drawn < wanted;) {
      const std::int32_t k = any_item(random);
      const std::int32_t item = number[unit(random) < share[k] ? k : alias[k]];
      if (drawn_for[item] == u) continue;
      drawn_for[item] = static_cast<std::int32_t>(u);
      matrix.indices.push_back(item);
      ++drawn;
    }
    std::sort(matrix.indices.begin() + matrix.offsets.back(), matrix.indices.end());
    matrix.offsets.push_back(matrix.entries());
  }
  return matrix;
}

const poise::Dataset& netflix() {
  static const poise::Dataset dataset = [] {
    poise::Dataset made;
    made.train = netflix_shaped();
    for (std::int64_t u = 0; u < users; ++u) made.users.push_back(std::to_string(u * 5 + 6));
    for (std::int64_t i = 0; i < items; ++i) made.items.push_back(std::to_string(i + 1));
    return made;
  }();
  return dataset;
}

/// A folder that is removed when the program ends.
const fs::path& folder() {
  struct Folder {
    fs::path path = fs::temp_directory_path() / ("poise_bench." + std::to_string(std::random_device{}()));
    Folder() { fs::create_directories(path); }
    ~Folder() { fs::remove_all(path); }
  };
  static const Folder made;
  return made.path;
}

class Stopwatch {
 public:
  [[nodiscard]] double seconds() const {
    return std::chrono::duration<double>(Clock::now() - start_).count();
  }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start_ = Clock::now();
};

/// Runs `body` once per iteration and reports its mean real time as the counter "seconds".
template <class Body>
void measure(benchmark::State& state, Body&& body) {
  double seconds = 0;
  for (auto _ : state) {
    const Stopwatch stopwatch;
    body();
    seconds += stopwatch.seconds();
  }
  state.counters["seconds"] = seconds / static_cast<double>(state.iterations());
  state.counters["entries"] = static_cast<double>(netflix().train.entries());
}

void write_dataset(benchmark::State& state) {
  const poise::Dataset& dataset = netflix();
  measure(state, [&] { poise::write_dataset(folder() / "data", dataset, {}); });
  state.counters["MB"] = static_cast<double>(fs::file_size(folder() / "data" / "data.poise")) / 1e6;
}

void read_dataset(benchmark::State& state) {
  const poise::Dataset& dataset = netflix();
  if (!fs::exists(folder() / "data")) poise::write_dataset(folder() / "data", dataset, {});
  const poise::Execution execution{.threads = static_cast<int>(state.range(0))};
  measure(state, [&] { benchmark::DoNotOptimize(poise::read_dataset(folder() / "data", execution)); });
}

/// The alternative without compression: offsets and indices as in memory.
void read_raw(benchmark::State& state) {
  const poise::Csr& train = netflix().train;
  const fs::path path = folder() / "raw.poise";
  poise::write_container(
      path, {},
      std::vector<poise::Tensor>{
          {"offsets", poise::ElementType::i64, {users + 1}, std::as_bytes(std::span(train.offsets))},
          {"indices", poise::ElementType::i32, {train.entries()}, std::as_bytes(std::span(train.indices))}});
  measure(state, [&] {
    const auto container = poise::Container::open(path);
    const auto offsets = container.elements<std::int64_t>("offsets");
    const auto indices = container.elements<std::int32_t>("indices");
    const poise::Csr copy{.rows = users,
                          .cols = items,
                          .offsets = {offsets.begin(), offsets.end()},
                          .indices = {indices.begin(), indices.end()},
                          .values = {}};
    benchmark::DoNotOptimize(copy.indices.data());
  });
  state.counters["MB"] = static_cast<double>(fs::file_size(path)) / 1e6;
  fs::remove(path);
}

poise::PackedMatrixView view_of(const poise::PackedMatrix& packed) {
  return {.counts = {std::as_bytes(std::span(packed.counts)), "counts"},
          .gaps = {std::as_bytes(std::span(packed.gaps)), "gaps"},
          .values = {}};
}

/// The alternative by rows, and the same by columns for comparison; in memory, without the ids.
void unpack_rows(benchmark::State& state) {
  const poise::PackedMatrix packed = poise::pack_rows(netflix().train.view(), {});
  measure(state, [&] { benchmark::DoNotOptimize(poise::unpack_rows(view_of(packed), users, items, {})); });
  state.counters["MB"] = static_cast<double>(packed.counts.size() + packed.gaps.size()) / 1e6;
}
void unpack_columns(benchmark::State& state) {
  const poise::PackedMatrix packed = poise::pack_columns(netflix().train.view(), {});
  measure(state, [&] { benchmark::DoNotOptimize(poise::unpack_columns(view_of(packed), users, items, {})); });
  state.counters["MB"] = static_cast<double>(packed.counts.size() + packed.gaps.size()) / 1e6;
}

/// The size without sorting the columns by count, to show the gain.
void pack_unsorted_columns(benchmark::State& state) {
  const poise::Csr columns = poise::transpose(netflix().train.view());
  poise::PackedMatrix packed;
  measure(state, [&] { packed = poise::pack_rows(columns.view(), {}); });
  state.counters["MB"] = static_cast<double>(packed.counts.size() + packed.gaps.size()) / 1e6;
}

BENCHMARK(write_dataset)->Unit(benchmark::kMillisecond)->Iterations(1);
BENCHMARK(read_dataset)->Arg(1)->Arg(2)->Unit(benchmark::kMillisecond)->Iterations(3);
BENCHMARK(read_raw)->Unit(benchmark::kMillisecond)->Iterations(3);
BENCHMARK(unpack_rows)->Unit(benchmark::kMillisecond)->Iterations(3);
BENCHMARK(unpack_columns)->Unit(benchmark::kMillisecond)->Iterations(3);
BENCHMARK(pack_unsorted_columns)->Unit(benchmark::kMillisecond)->Iterations(1);

}  // namespace
