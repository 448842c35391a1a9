#include "poise/data/item_features.hpp"

#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "poise/base/error.hpp"
#include "poise/data/feature_columns.hpp"
#include "poise/data/log/text.hpp"
#include "poise/data/numbers.hpp"
#include "poise/data/table_text.hpp"

namespace poise {

namespace {

constexpr std::size_t longest_text = 4096;
constexpr std::array<std::string_view, 1> feature_names = {"feature"};
constexpr std::array<std::string_view, 1> value_names = {"value"};

/// Takes the lines of a file.
class Reading {
 public:
  /// `known`: null, or the features of the data that the items join.
  Reading(std::string file, bool skip_bad_lines, const KnownFeatures* known)
      : file_(std::move(file)), skip_bad_lines_(skip_bad_lines), known_(known) {}

  void take(std::int64_t line, const TableFields& fields) {
    if (header_.empty()) return take_header(line, fields);
    if (fields.size() != header_.size())
      return bad(line, fmt::format("{} fields, but the header has {}; quote fields that hold the delimiter",
                                   fields.size(), header_.size()));
    if (fields[id_].empty()) return bad(line, "no item id");
    if (fields[id_].size() > longest_text) return bad(line, "an item id is longer than 4096 bytes");
    if (feature_) {
      take_feature(line, fields);
    } else {
      take_columns(line, fields);
    }
  }

  void bad(std::int64_t line, std::string_view problem) {
    if (header_.empty() || !skip_bad_lines_) fail(ErrorKind::input, "{}:{}: {}", file_, line, problem);
    ++builder_.counts().skipped_lines;
  }

  FeatureTable table() && {
    if (header_.empty())
      fail(ErrorKind::input, "{} is empty; it should have a header such as id,feature,value", file_);
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      if (c == id_) continue;
      if (known_ != nullptr) {
        add_further_column(header_[c], columns_[c], *known_, builder_);
      } else {
        add_column(header_[c], finite(c), builder_);
      }
    }
    return builder_.take(value_.has_value());
  }

 private:
  void take_header(std::int64_t line, const TableFields& fields) {
    for (const std::string& name : fields) header_.emplace_back(logs::trimmed(name));
    const std::optional<std::size_t> id = column_of_items(header_);
    if (!id || header_.size() < 2)
      fail(
          ErrorKind::input,
          "{}:{}: the first line should name the columns, one of them `id` or `item`, as in id,feature,value",
          file_, line);
    id_ = *id;
    feature_ = column_named(header_, feature_names);
    value_ = column_named(header_, value_names);
    const std::size_t known = 1 + (feature_ ? 1 : 0) + (value_ ? 1 : 0);
    if (feature_ && known == header_.size()) return;
    feature_.reset();
    value_.reset();
    columns_.resize(header_.size());
    lines_.resize(header_.size());
  }

  void take_feature(std::int64_t line, const TableFields& fields) {
    const std::string_view name = logs::trimmed(fields[*feature_]);
    if (name.empty()) return bad(line, "no feature");
    if (name.size() > longest_text) return bad(line, "a feature is longer than 4096 bytes");
    constexpr double most = std::numeric_limits<float>::max();
    double value = 1;
    if (value_) {
      const std::optional<double> number = parse_number(fields[*value_]);
      if (!number || !std::isfinite(*number) || *number < 0 || *number > most)
        return bad(line,
                   fmt::format("the value {} is not a number of at least 0", logs::shown(fields[*value_])));
      value = *number;
    }
    const std::int32_t item = builder_.item(fields[id_]);
    const std::int32_t feature = builder_.feature(name);
    if (builder_.sum(item, feature) + value > most)
      return bad(line, fmt::format("the values of this item and feature add up to more than {:.2g}", most));
    if (!builder_.add(item, feature, value)) ++builder_.counts().duplicates;
  }

  void take_columns(std::int64_t line, const TableFields& fields) {
    if (builder_.has_item(fields[id_])) {
      ++builder_.counts().duplicates;
      return;
    }
    for (const std::string& field : fields) {
      if (field.size() > longest_text && &field != &fields[id_])
        return bad(line, "a field is longer than 4096 bytes");
    }
    const std::int32_t item = builder_.item(fields[id_]);
    for (std::size_t c = 0; c < fields.size(); ++c) {
      const std::string_view text = logs::trimmed(fields[c]);
      if (c == id_ || text.empty()) continue;
      columns_[c].push_back({item, std::string(text)});
      lines_[c].push_back(line);
    }
  }

  /// A column's cells; of a column of numbers those that are finite.
  std::vector<FeatureCell> finite(std::size_t column) {
    std::vector<FeatureCell> cells = std::move(columns_[column]);
    if (!are_numbers(cells)) return cells;
    std::vector<FeatureCell> kept;
    for (std::size_t k = 0; k < cells.size(); ++k) {
      if (std::isfinite(*parse_number(cells[k].text))) {
        kept.push_back(std::move(cells[k]));
      } else {
        bad(lines_[column][k],
            fmt::format("the {} {} is not a finite number", header_[column], logs::shown(cells[k].text)));
      }
    }
    return kept;
  }

  std::string file_;
  bool skip_bad_lines_;
  const KnownFeatures* known_;
  TableFields header_;
  std::size_t id_ = 0;
  std::optional<std::size_t> feature_;  // of a file with a feature in each line
  std::optional<std::size_t> value_;
  std::vector<std::vector<FeatureCell>> columns_;  // of a table of columns
  std::vector<std::vector<std::int64_t>> lines_;   // of their cells
  FeatureBuilder builder_;
};

FeatureTable read_table_of_features(const std::filesystem::path& path, bool skip_bad_lines,
                                    const KnownFeatures* known) {
  Reading reading(path.string(), skip_bad_lines, known);
  for_each_record(
      read_table(path), [&](std::int64_t line, const TableFields& fields) { reading.take(line, fields); },
      [&](std::int64_t line, std::string_view problem) { reading.bad(line, problem); });
  return std::move(reading).table();
}

}  // namespace

FeatureTable read_item_features(const std::filesystem::path& path, bool skip_bad_lines) {
  return read_table_of_features(path, skip_bad_lines, nullptr);
}

FeatureTable read_further_features(const std::filesystem::path& path, const Ids& known, bool skip_bad_lines) {
  const KnownFeatures features(known);
  return read_table_of_features(path, skip_bad_lines, &features);
}

}  // namespace poise
