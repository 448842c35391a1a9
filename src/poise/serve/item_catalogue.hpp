#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "poise/data/ids.hpp"
#include "poise/data/item_table.hpp"

namespace poise::serve {

/// Items found by the words of their titles and ids; never changed after it was made.
class ItemCatalogue {
 public:
  explicit ItemCatalogue(std::unique_ptr<const ItemTable> table);
  ItemCatalogue(const ItemCatalogue&) = delete;
  ItemCatalogue& operator=(const ItemCatalogue&) = delete;

  [[nodiscard]] const ItemTable& table() const { return *table_; }

  /// At most `most` items whose title or id has every word of `text` as the beginning of one of its words,
  /// without regard to ASCII case: first those whose whole text begins with `text`, then in the order of the
  /// file. An empty text finds the first items. Only items that `accepted` accepts; looks at `most_looked_at`
  /// items and the first `most_words` words of `text` at most.
  [[nodiscard]] std::vector<std::int64_t> find(
      std::string_view text, std::int64_t most,
      const std::function<bool(std::string_view id)>& accepted) const;

 private:
  static constexpr std::int64_t most_looked_at = 20'000;
  static constexpr std::size_t most_words = 16;

  /// A word and an item that has it; sorted by word, then item.
  struct Word {
    std::uint32_t begin = 0;  ///< in `folded_` of the item
    std::int32_t item = 0;
  };
  [[nodiscard]] std::string_view from(const Word& word) const;
  [[nodiscard]] bool has_words(std::int64_t item, const std::vector<std::string>& words) const;

  std::unique_ptr<const ItemTable> table_;
  Ids folded_;  ///< title and id of each item in lower case
  std::vector<Word> words_;
};

}  // namespace poise::serve
