#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "poise/data/ids.hpp"
#include "poise/data/item_index.hpp"

namespace poise::serve {

/// What people call the items: titles, and any further columns, e.g. the addresses of pictures. Found by
/// words; never changed after it was made.
class ItemCatalogue {
 public:
  /// Reads `FILE.csv`: a header, then a line for each item, with quotes as RFC 4180 has them. The column `id`
  /// (else `item`, else the first) holds ids, `title` (else `name`, else the second) titles. Error{input} for
  /// lines that are not so, with their number.
  static std::unique_ptr<const ItemCatalogue> read_csv(const std::filesystem::path& path);
  /// Without titles: items are found by their ids.
  static std::unique_ptr<const ItemCatalogue> of_ids(const Ids& ids);

  ItemCatalogue(Ids ids, Ids titles);
  ItemCatalogue(const ItemCatalogue&) = delete;
  ItemCatalogue& operator=(const ItemCatalogue&) = delete;

  [[nodiscard]] std::int64_t size() const { return ids_.size(); }
  [[nodiscard]] std::string_view id(std::int64_t item) const { return ids_[item]; }
  [[nodiscard]] bool has_titles() const { return titles_.size() > 0; }
  /// Empty for an item without one.
  [[nodiscard]] std::string_view title(std::int64_t item) const {
    return has_titles() ? titles_[item] : std::string_view();
  }
  /// The title of an id; empty for an unknown one.
  [[nodiscard]] std::string_view title_of(std::string_view id) const;
  /// Names and values of the further columns of an item; empty values are left out.
  [[nodiscard]] std::vector<std::pair<std::string_view, std::string_view>> columns(std::int64_t item) const;

  /// At most `most` items whose title or id has every word of `text` as the beginning of one of its words,
  /// without regard to ASCII case: first those whose whole text begins with `text`, then in the order of the
  /// file. An empty text finds the first items. Only items that `accepted` accepts; looks at `most_looked_at`
  /// items at most.
  [[nodiscard]] std::vector<std::int64_t> find(
      std::string_view text, std::int64_t most,
      const std::function<bool(std::string_view id)>& accepted) const;

 private:
  static constexpr std::int64_t most_looked_at = 20'000;

  struct Column {
    std::string name;
    Ids values;
  };
  /// A word and an item that has it; sorted by word, then item.
  struct Word {
    std::uint32_t begin = 0;  ///< in `folded_` of the item
    std::int32_t item = 0;
  };
  [[nodiscard]] std::string_view from(const Word& word) const;
  [[nodiscard]] bool has_words(std::int64_t item, const std::vector<std::string>& words) const;

  Ids ids_;
  Ids titles_;
  std::vector<Column> columns_;
  ItemIndex index_;
  Ids folded_;  ///< title and id of each item in lower case
  std::vector<Word> words_;
};

}  // namespace poise::serve
