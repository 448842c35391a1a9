#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "poise/data/ids.hpp"
#include "poise/data/item_index.hpp"

namespace poise {

/// What people call the items: titles, and any further columns, e.g. the addresses of pictures. Never changed
/// after it was made.
class ItemTable {
 public:
  struct Column {
    std::string name;
    Ids values;
  };

  /// Reads delimited text as logs are read: plain, gzip or zstd, the delimiter found, quotes as RFC 4180 has
  /// them; the first line is a header. The column `id` (else one with an item's name, as in logs, else the
  /// first) holds ids, `title` (else `name`, else the next) titles, `picture` or `image` (also picture_url,
  /// image_url) addresses of pictures. Of equal ids the first counts. Error{input} with file and line for
  /// lines with another number of fields than the header, without an id, or with bytes that are not UTF-8.
  static std::unique_ptr<const ItemTable> read(const std::filesystem::path& path);

  /// Without titles (an empty list), items have their ids alone.
  explicit ItemTable(Ids ids, Ids titles = {}, std::vector<Column> columns = {});
  ItemTable(const ItemTable&) = delete;
  ItemTable& operator=(const ItemTable&) = delete;

  [[nodiscard]] std::int64_t size() const { return ids_.size(); }
  [[nodiscard]] std::string_view id(std::int64_t item) const { return ids_[item]; }
  [[nodiscard]] bool has_pictures() const { return pictures_.has_value(); }
  /// Empty for an item without one.
  [[nodiscard]] std::string_view title(std::int64_t item) const {
    return titles_.size() > 0 ? titles_[item] : std::string_view();
  }
  /// The title, or the address of the picture, of an id; empty for an unknown one.
  [[nodiscard]] std::string_view title_of(std::string_view id) const;
  [[nodiscard]] std::string_view picture_of(std::string_view id) const;
  /// Names and values of the further columns of an item; empty values are left out.
  [[nodiscard]] std::vector<std::pair<std::string_view, std::string_view>> columns(std::int64_t item) const;

 private:
  Ids ids_;
  Ids titles_;
  std::vector<Column> columns_;
  std::optional<std::size_t> pictures_;  ///< which of the columns
  ItemIndex index_;
};

}  // namespace poise
