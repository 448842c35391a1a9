#pragma once

#include <filesystem>
#include <string>

#include "poise/model/full_rank/kept_inverse.hpp"

#include "command.hpp"

namespace poise::app {

/// The file beside a model that an update needs: written first, moved to its place after the model. The
/// destructor removes what was not moved.
class StagedInverse {
 public:
  StagedInverse(std::filesystem::path model, const KeptInverse& kept, int threads);
  StagedInverse(const StagedInverse&) = delete;
  StagedInverse& operator=(const StagedInverse&) = delete;
  ~StagedInverse();

  /// What the model records, so that the two belong together.
  [[nodiscard]] const std::string& checksum() const { return checksum_; }
  /// Moves it beside the model, which is there now.
  void publish();

 private:
  std::filesystem::path model_;
  std::string checksum_;
  bool published_ = false;
};

/// The key of the checksum in a model's report.
inline constexpr const char* kept_inverse_key = "kept_inverse";

/// Says how large the file will be.
void say_kept_inverse(std::int64_t items, bool weighted, const std::filesystem::path& model,
                      const Context& context);

}  // namespace poise::app
