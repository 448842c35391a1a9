#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "poise/data/item_index.hpp"
#include "poise/linalg/large_pages.hpp"
#include "poise/recommend/ranked_blocks.hpp"
#include "poise/serve/item_catalogue.hpp"
#include "poise/train/model_file.hpp"

namespace poise::serve {

/// How a model file is held. `read`: in memory, so that a file that is overwritten in place changes nothing.
/// `mapped`: in the system's page cache, shared with other processes; such a file may only be replaced by
/// renaming another to its name.
enum class Held { read, mapped };

/// Filters that every list goes through, by id; what a model does not know is left out.
struct ItemFilters {
  std::vector<std::string> exclude = {};
  std::optional<std::vector<std::string>> only = std::nullopt;
};

/// A model that answers requests; never changed after it was made, and shared by all threads.
class ServedModel {
 public:
  /// Reads and checks a file whole: every checksum, its ids, and scores of one history. Error{input} for any
  /// defect.
  static std::shared_ptr<const ServedModel> open(std::string name, const std::filesystem::path& path,
                                                 Held held, const ItemFilters& filters, int threads);
  /// A model in memory.
  ServedModel(std::string name, LoadedModel model, std::string checksum, const ItemFilters& filters = {});
  ServedModel(const ServedModel&) = delete;
  ServedModel& operator=(const ServedModel&) = delete;
  ~ServedModel();

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const ModelInfo& info() const { return model_.info; }
  [[nodiscard]] const Ids& items() const { return model_.info.items; }
  [[nodiscard]] const Scorer& scorer() const { return *model_.scorer; }
  [[nodiscard]] const ItemIndex& index() const { return index_; }
  /// The numbers of items by id, without those that the model does not know.
  [[nodiscard]] std::vector<std::int32_t> known(const std::vector<std::string>& ids) const;
  /// The items by their ids, for a search without titles; made when it is first asked for.
  [[nodiscard]] const ItemCatalogue& catalogue() const;
  /// The filters of every list.
  [[nodiscard]] const std::vector<std::int32_t>& excluded() const { return excluded_; }
  [[nodiscard]] const std::optional<std::vector<std::int32_t>>& only() const { return only_; }
  /// Keeps a place of work for each thread that ranks at the same time.
  [[nodiscard]] Ranker& ranker() const { return *ranker_; }
  /// The file's identity: Container::checksum.
  [[nodiscard]] const std::string& checksum() const { return checksum_; }
  [[nodiscard]] std::chrono::system_clock::time_point since() const { return since_; }

 private:
  using FileBytes = std::vector<std::byte, LargePages<std::byte>>;

  FileBytes bytes_;  ///< what the scorer may refer to
  std::string name_;
  LoadedModel model_;
  ItemIndex index_;
  std::vector<std::int32_t> excluded_;
  std::optional<std::vector<std::int32_t>> only_;  ///< ascending
  std::unique_ptr<Ranker> ranker_;
  std::string checksum_;
  mutable std::once_flag catalogue_made_;
  mutable std::unique_ptr<const ItemCatalogue> catalogue_;
  std::chrono::system_clock::time_point since_ = std::chrono::system_clock::now();
};

}  // namespace poise::serve
