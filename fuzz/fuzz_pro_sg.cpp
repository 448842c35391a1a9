#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "poise/base/error.hpp"
#include "poise/data/pro_sg.hpp"

/// The six files of a pro-sg folder, separated by 0x1e: reading may only throw poise::Error, and what it
/// accepts must be consistent.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  poise::ProSgFiles files;
  for (std::size_t k = 0; k < files.size(); ++k) {
    const std::string_view bytes = rest.substr(0, rest.find('\x1e'));
    rest.remove_prefix(std::min(bytes.size() + 1, rest.size()));
    // A few compressed bytes can hold gigabytes; fuzz_byte_source is there for them.
    if (bytes.starts_with("\x28\xb5\x2f\xfd") || bytes.starts_with("\x1f\x8b")) return 0;
    files[k] = {poise::pro_sg_names[k], bytes};
  }
  poise::Dataset dataset;
  try {
    dataset = poise::read_pro_sg(files, {.threads = 1});
  } catch (const poise::Error&) {
    return 0;
  }
  try {
    poise::validate(dataset);
  } catch (const poise::Error&) {
    std::abort();
  }
  return 0;
}
