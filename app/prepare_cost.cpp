#include "prepare_cost.hpp"

#include <algorithm>
#include <system_error>

#include "estimate.hpp"

namespace poise::app {

namespace fs = std::filesystem;

namespace {

/// The bytes of a log, or of all files in a folder; compressed ones count with a typical factor.
double text_bytes(const fs::path& path) {
  constexpr double expansion = 4;
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) {
    double sum = 0;
    for (const fs::directory_entry& entry : fs::directory_iterator(path, ignored)) {
      if (entry.is_regular_file(ignored)) sum += text_bytes(entry.path());
    }
    return sum;
  }
  if (!fs::is_regular_file(path, ignored)) return 0;
  const bool compressed = path.extension() == ".gz" || path.extension() == ".zst";
  return static_cast<double>(fs::file_size(path, ignored)) * (compressed ? expansion : 1);
}

}  // namespace

/// The memory per byte of text depends on columns and ids, so only clearly impossible inputs are refused
/// before reading.
void say_prepare_estimate(std::span<const fs::path> inputs, const Context& context) {
  constexpr double memory_per_byte = 2.5;
  constexpr double least_memory_per_byte = 1.0 / 3;
  constexpr double bytes_per_second = 60e6;
  double text = 0;
  for (const fs::path& input : inputs) text += text_bytes(input);
  const double threads = std::min(context.execution.threads, 8);
  say_estimate({text / bytes_per_second / threads, text * memory_per_byte}, context);
  refuse_if_too_large({0, text * least_memory_per_byte}, context,
                      "raise the limit, or prepare a part of the log");
}

}  // namespace poise::app
