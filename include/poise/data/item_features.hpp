#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>
#include <vector>

#include "poise/data/ids.hpp"
#include "poise/linalg/csr.hpp"

namespace poise {

/// What is known of the items of a catalogue besides who has them: genres, makers, words of a title.
struct ItemFeatures {
  Ids names;
  Csr rows = {};  ///< F, features x items: numbers above 0, or no values where all are 1
  bool operator==(const ItemFeatures&) const = default;
};

/// Which features each item has, by name: what explanations say of a model that learnt from them.
struct NamedFeatures {
  Ids names;
  Csr of_items = {};  ///< items x features, without values; no rows: none are known

  /// The names of the features that both items have, in the order of the features. They refer to `names`.
  [[nodiscard]] std::vector<std::string_view> shared(std::int32_t item, std::int32_t other) const;
  bool operator==(const NamedFeatures&) const = default;
};
NamedFeatures named(const ItemFeatures& features);

/// Features as a file has them, before they are put in the numbers of a catalogue.
struct FeatureTable {
  Ids items;                    ///< in the order of the file, also those that have no feature
  Ids names;                    ///< of the features, in the order of the file
  Csr rows;                     ///< items x features; values as in ItemFeatures
  std::int64_t duplicates = 0;  ///< lines that repeat an item and feature, or an item of a table of columns
  std::int64_t rare = 0;        ///< texts in columns that a single item has, which say nothing of others
  std::int64_t skipped_lines = 0;  ///< bad lines (only where they are skipped)
};

/// Reads delimited text with a header: plain, gzip or zstd, quotes as RFC 4180 has them. One column holds ids
/// of items (`id`, `item`, or a name that logs use). Where the others are `feature` and perhaps `value`, each
/// line gives one feature; values of a repeated pair add up, those that are 0 are no feature, and without a
/// column of values all are 1. Otherwise each other column describes its item. Texts are categories, several
/// of them where a bar separates them, and give the feature "column=text"; a text that one item alone has is
/// left out. In columns of numbers up to ten different ones are categories, more of them are cut into ten
/// ranges of equally many items, "column=least..greatest". Empty cells say nothing; of equal ids the first
/// counts.
///
/// A line is bad with another number of fields than the header, no id or feature, one longer than 4096 bytes,
/// bytes that are not UTF-8, a value that is no finite number or below 0, or wrong quotes: Error{input} with
/// file and line, or counted with `skip_bad_lines`. Error{input} too for a file without such a header.
FeatureTable read_item_features(const std::filesystem::path& path, bool skip_bad_lines = false);

/// The same for further items of data that know these features: columns are read by their names. A number
/// that is no category lies in the range with the largest least number up to it, or in the first range, and
/// texts count however many items have them. Features beyond the known ones keep their own names.
FeatureTable read_further_features(const std::filesystem::path& path, const Ids& known,
                                   bool skip_bad_lines = false);

}  // namespace poise
