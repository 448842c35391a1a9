#include <cstdio>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "poise/data/log_reader.hpp"

namespace {

constexpr std::int64_t lines = 20'000'000;

/// A file like MovieLens' ratings.csv: users in ascending order with some 140 rows each, few items that are
/// rated often and many that are not, half stars. Written once and kept in the temporary folder.
const std::filesystem::path& ratings_csv() {
  static const std::filesystem::path path = [] {
    const std::filesystem::path file = std::filesystem::temp_directory_path() / "poise-bench-ratings.csv";
    if (std::filesystem::exists(file)) return file;
    const std::filesystem::path unfinished = file.string() + ".part";
    std::ofstream out(unfinished, std::ios::binary);
    out << "userId,movieId,rating,timestamp\n";
    std::uint64_t state = 1;
    const auto draw = [&](std::uint64_t below) {
      state = state * 6364136223846793005U + 1442695040888963407U;
      return (state >> 33U) * below >> 31U;
    };
    std::string text;
    std::int64_t user = 1;
    for (std::int64_t k = 0; k < lines; ++k) {
      if (draw(140) == 0) ++user;
      const std::uint64_t item = 1 + draw(1 + draw(27'000));
      const std::uint64_t halves = 1 + draw(10);
      fmt::format_to(std::back_inserter(text), "{},{},{}.{},{}\n", user, item, halves / 2, halves % 2 * 5,
                     789'652'009 + draw(700'000'000));
      if (text.size() > 1'000'000 || k + 1 == lines) {
        out << text;
        text.clear();
      }
    }
    out.close();
    std::filesystem::rename(unfinished, file);
    return file;
  }();
  return path;
}

double megabytes() { return static_cast<double>(std::filesystem::file_size(ratings_csv())) / 1e6; }

/// Processor time in seconds; other programs on the machine disturb it little.
double processor_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

/// Reads the file's bytes and ignores them; returns the seconds.
double read_plainly(const std::filesystem::path& path) {
  const double start = processor_seconds();
  std::vector<char> buffer(1U << 20U);
  std::FILE* const file = std::fopen(path.c_str(), "rb");
  std::setvbuf(file, nullptr, _IONBF, 0);
  while (std::fread(buffer.data(), 1, buffer.size(), file) > 0) benchmark::DoNotOptimize(buffer.data());
  std::fclose(file);
  return processor_seconds() - start;
}

/// The bytes of a 20 M-line log, read and ignored: the rate of the disk (or its cache).
void plain_read(benchmark::State& state) {
  const std::filesystem::path& path = ratings_csv();
  double seconds = 0;
  for (auto _ : state) seconds += read_plainly(path);
  state.counters["MB_per_s"] = megabytes() * static_cast<double>(state.iterations()) / seconds;
}
BENCHMARK(plain_read)->Unit(benchmark::kMillisecond)->UseRealTime()->Iterations(3);

/// The same log parsed to Interactions by one thread; the ratio is its time over that of a plain read.
void parse_csv(benchmark::State& state) {
  const std::vector<std::filesystem::path> inputs = {ratings_csv()};
  const poise::LogOptions options{.format = poise::LogFormat::csv};
  poise::Execution execution;
  execution.threads = 1;
  const double plain_seconds = read_plainly(inputs.front());
  const double start = processor_seconds();
  for (auto _ : state) benchmark::DoNotOptimize(poise::read_log(inputs, options, execution));
  const double seconds = (processor_seconds() - start) / static_cast<double>(state.iterations());
  state.counters["MB_per_s_per_core"] = megabytes() / seconds;
  state.counters["times_plain_read"] = seconds / plain_seconds;
}
BENCHMARK(parse_csv)->Unit(benchmark::kMillisecond)->UseRealTime()->Iterations(2);

/// `poise prepare` of that log end to end, as its own process on all cores: seconds, and its peak memory.
void prepare_csv(benchmark::State& state) {
  const std::string input = ratings_csv().string();
  const std::string out = (std::filesystem::temp_directory_path() / "poise-bench-data").string();
  rusage usage{};
  for (auto _ : state) {
    const pid_t child = fork();
    if (child == 0) {
      dup2(open("/dev/null", O_WRONLY), STDOUT_FILENO);
      execl(POISE_PROGRAM, "poise", "prepare", input.c_str(), "--out", out.c_str(), "--keep-above", "0",
            "--quiet", nullptr);
      _exit(127);
    }
    int status = 0;
    wait4(child, &status, 0, &usage);
    if (status != 0) state.SkipWithError("poise prepare failed");
  }
  std::filesystem::remove_all(out);
  state.counters["peak_MB"] = static_cast<double>(usage.ru_maxrss) * 1024 / 1e6;
  state.counters["MB_per_s"] = benchmark::Counter(megabytes(), benchmark::Counter::kIsIterationInvariantRate);
}
BENCHMARK(prepare_csv)->Unit(benchmark::kMillisecond)->UseRealTime()->Iterations(2);

}  // namespace
