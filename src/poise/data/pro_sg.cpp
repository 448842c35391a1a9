#include "poise/data/pro_sg.hpp"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <limits>
#include <map>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "poise/base/error.hpp"
#include "poise/data/catalogue.hpp"
#include "poise/data/log_reader.hpp"
#include "poise/io/atomic_file.hpp"

namespace poise {

namespace fs = std::filesystem;

namespace {

std::int32_t parse_number(std::string_view text, std::int64_t limit, std::string_view what,
                          const fs::path& path) {
  std::int64_t number = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 0 || number >= limit) {
    fail(ErrorKind::input, "{}: the {} '{}' is not a whole number from 0 to {}", path.string(), what, text,
         limit - 1);
  }
  return static_cast<std::int32_t>(number);
}

Ids read_item_ids(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) fail(ErrorKind::input, "cannot read {}; the pro-sg layout needs it", path.string());
  Ids ids;
  std::unordered_set<std::string> seen;
  for (std::string line; std::getline(file, line);) {
    if (line.ends_with('\r')) line.pop_back();
    if (!seen.insert(line).second) {
      fail(ErrorKind::input, "{}:{}: the item id '{}' stands there twice", path.string(), ids.size() + 1,
           line);
    }
    ids.push_back(line);
  }
  if (ids.size() == 0) fail(ErrorKind::input, "{} holds no item ids", path.string());
  return ids;
}

/// One of the csv files: its users' histories on item numbers, and which user has which uid.
struct Part {
  Histories histories;
  Catalogue catalogue;
  std::map<std::int32_t, std::int32_t> user_of_uid;
};

/// How many columns the header of a csv file names; 0 when nothing follows it.
std::int64_t columns_with_data(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::string header;
  if (!std::getline(file, header))
    fail(ErrorKind::input, "cannot read {}; the pro-sg layout needs it", path.string());
  return file.peek() == std::ifstream::traits_type::eof() ? 0
                                                          : 1 + std::count(header.begin(), header.end(), ',');
}

Part read_part(const fs::path& path, const Ids& items, PrepareCounts& counts, const Execution& execution) {
  const std::int64_t columns = columns_with_data(path);
  if (columns == 0) return {};
  LogOptions options;
  options.format = LogFormat::csv;
  options.delimiter = ",";
  options.header = Header::yes;
  options.columns = {"1", "2"};
  if (columns >= 3) options.columns.emplace_back("3");
  const Interactions log = read_log({path}, options, execution);
  if (log.empty_ids > 0)
    fail(ErrorKind::input, "{}: {} rows have no uid or no sid", path.string(), log.empty_ids);
  Part part;
  part.histories = group_by_user(log, execution);
  part.catalogue.ids = items;
  for (std::int64_t i = 0; i < log.items.size(); ++i) {
    part.catalogue.number.push_back(parse_number(log.items[i], items.size(), "sid", path));
  }
  for (std::int64_t u = 0; u < log.users.size(); ++u) {
    const std::int32_t uid =
        parse_number(log.users[u], std::numeric_limits<std::int32_t>::max(), "uid", path);
    part.user_of_uid.emplace(uid, static_cast<std::int32_t>(u));
  }
  counts.duplicates += part.histories.duplicates;
  return part;
}

/// The part's matrix with one row per uid, empty where the part does not have it.
Csr rows_of(const Part& part, const std::vector<std::int32_t>& uids, std::int64_t items,
            const Execution& execution) {
  const auto entries = [&](std::int64_t k, const auto& add) {
    const auto found = part.user_of_uid.find(uids[k]);
    if (found != part.user_of_uid.end()) for_each_entry(part.histories, part.catalogue, found->second, add);
  };
  Csr matrix = build_rows(static_cast<std::int64_t>(uids.size()), part.catalogue, part.histories.value,
                          entries, execution);
  matrix.cols = items;
  return matrix;
}

std::vector<std::int32_t> uids_of(const Part& a, const Part& b) {
  std::vector<std::int32_t> uids;
  for (const auto& [uid, user] : a.user_of_uid) uids.push_back(uid);
  for (const auto& [uid, user] : b.user_of_uid) {
    if (!a.user_of_uid.contains(uid)) uids.push_back(uid);
  }
  std::sort(uids.begin(), uids.end());
  return uids;
}

Ids as_ids(const std::vector<std::int32_t>& uids) {
  Ids ids;
  for (const std::int32_t uid : uids) ids.push_back(std::to_string(uid));
  return ids;
}

void write_rows(AtomicFile& file, const CsrView& matrix, std::int64_t first_uid, bool values) {
  fmt::memory_buffer text;
  for (std::int64_t u = 0; u < matrix.rows; ++u) {
    const auto items = matrix.row(u);
    const auto row_values = matrix.row_values(u);
    for (std::size_t k = 0; k < items.size(); ++k) {
      fmt::format_to(fmt::appender(text), "{},{}", first_uid + u, items[k]);
      if (values) fmt::format_to(fmt::appender(text), ",{}", row_values.empty() ? 1.0F : row_values[k]);
      text.push_back('\n');
    }
    if (text.size() > (1U << 20U) || u + 1 == matrix.rows) {
      file.write(std::string_view(text.data(), text.size()));
      text.clear();
    }
  }
}

}  // namespace

Dataset read_pro_sg(const fs::path& folder, const Execution& execution) {
  Dataset dataset;
  dataset.split = SplitKind::users;
  dataset.items = read_item_ids(folder / "unique_sid.txt");
  const auto read = [&](const char* name) {
    return read_part(folder / name, dataset.items, dataset.counts, execution);
  };
  const auto rows = [&](const Part& part, const std::vector<std::int32_t>& uids) {
    return rows_of(part, uids, dataset.items.size(), execution);
  };
  {
    const Part train = read("train.csv");
    const std::vector<std::int32_t> uids = uids_of(train, {});
    if (uids.empty()) fail(ErrorKind::input, "{} holds no interactions", (folder / "train.csv").string());
    dataset.users = as_ids(uids);
    dataset.train = rows(train, uids);
  }
  const auto held_out = [&](const std::string& name) -> HeldOut {
    const Part fold_in = read((name + "_tr.csv").c_str());
    const Part targets = read((name + "_te.csv").c_str());
    const std::vector<std::int32_t> uids = uids_of(fold_in, targets);
    return {.users = as_ids(uids), .fold_in = rows(fold_in, uids), .targets = rows(targets, uids)};
  };
  dataset.validation = held_out("validation");
  dataset.test = held_out("test");
  return dataset;
}

void write_pro_sg(const fs::path& folder, const Dataset& dataset, bool values) {
  if (dataset.split != SplitKind::users) {
    fail(ErrorKind::usage,
         "the pro-sg layout holds a split by users; use --split users with --export-pro-sg");
  }
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) fail(ErrorKind::resources, "cannot make the folder {}: {}", folder.string(), error.message());
  const auto write = [&](const char* name, const Csr& matrix, std::int64_t first_uid) {
    AtomicFile file(folder / name);
    file.write(values ? "uid,sid,value\n" : "uid,sid\n");
    write_rows(file, matrix.view(), first_uid, values);
    file.commit();
  };
  const std::int64_t validation_first = dataset.train.rows;
  const std::int64_t test_first = validation_first + dataset.validation->targets.rows;
  write("train.csv", dataset.train, 0);
  write("validation_tr.csv", dataset.validation->fold_in, validation_first);
  write("validation_te.csv", dataset.validation->targets, validation_first);
  write("test_tr.csv", dataset.test->fold_in, test_first);
  write("test_te.csv", dataset.test->targets, test_first);
  AtomicFile file(folder / "unique_sid.txt");
  for (std::int64_t i = 0; i < dataset.items.size(); ++i) {
    file.write(dataset.items[i]);
    file.write("\n");
  }
  file.commit();
}

}  // namespace poise
