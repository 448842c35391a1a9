#include "poise/data/pro_sg.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "poise/base/byte_order_mark.hpp"
#include "poise/base/error.hpp"
#include "poise/data/catalogue.hpp"
#include "poise/data/log/byte_source.hpp"
#include "poise/data/log/chunks.hpp"
#include "poise/data/log/record.hpp"
#include "poise/data/log/sample.hpp"
#include "poise/data/log/text.hpp"
#include "poise/data/numbers.hpp"

namespace poise {

namespace fs = std::filesystem;

namespace {

using logs::LogInput;

constexpr std::int64_t most_uid = std::numeric_limits<std::int32_t>::max() - 1;
constexpr std::int32_t no_number = -1;

std::unique_ptr<logs::ByteSource> open(const LogInput& input, const Execution& execution) {
  return input.bytes ? logs::open_bytes(*input.bytes, input.path.string())
                     : logs::open_bytes(input.path, execution.observer);
}

std::string read_all(const LogInput& input, const Execution& execution) {
  const auto source = open(input, execution);
  std::string text;
  std::string buffer(1U << 16U, '\0');
  while (const std::size_t count = source->read(buffer.data(), buffer.size())) text.append(buffer, 0, count);
  return text;
}

Ids read_item_ids(const LogInput& input, const Execution& execution) {
  const std::string name = input.path.string();
  const std::string text = read_all(input, execution);
  std::string_view lines = std::string_view(text).substr(0, text.find_last_not_of("\r\n") + 1);
  if (lines.starts_with(byte_order_mark)) lines.remove_prefix(byte_order_mark.size());
  if (lines.empty()) fail(ErrorKind::input, "{} holds no item ids; put one in each line", name);
  Ids ids;
  std::unordered_set<std::string_view> seen;
  for (std::size_t at = 0; at <= lines.size();) {
    const std::size_t end = std::min(lines.find('\n', at), lines.size());
    std::string_view line = lines.substr(at, end - at);
    at = end + 1;
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty()) {
      fail(ErrorKind::input, "{}:{}: the line is empty where item {} should stand; give it an id", name,
           ids.size() + 1, ids.size());
    }
    if (!seen.insert(line).second) {
      fail(ErrorKind::input, "{}:{}: the item id {} stands there twice; give each item its own", name,
           ids.size() + 1, logs::shown(line));
    }
    if (ids.size() > most_uid) fail(ErrorKind::input, "{} has more than {} lines", name, most_uid + 1);
    ids.push_back(line);
  }
  return ids;
}

/// One of the csv files: its users' histories on item numbers, and which user has which uid.
struct Part {
  Histories histories;
  Catalogue catalogue;
  std::map<std::int32_t, std::int32_t> user_of_uid;
};

/// How many columns the header of a csv file names; 0 if no row follows it.
std::size_t columns_with_data(const LogInput& input, const Execution& execution) {
  const std::string name = input.path.string();
  logs::ChunkReader reader(open(input, execution), name, 1);
  const std::string_view bytes = reader.sample();
  const logs::Sample sample = logs::take_sample(bytes, reader.at_end(), ",");
  if (sample.records.empty() || parse_number(sample.records.front().front())) {
    fail(ErrorKind::input, "{} does not begin with the names of its columns; put the line uid,sid first",
         name);
  }
  const bool only_header = sample.records.size() == 1 && reader.at_end();
  return only_header ? 0 : sample.records.front().size();
}

/// The line at which data row `row` of a csv file begins.
std::int64_t line_of_row(const LogInput& input, std::int64_t row, const Execution& execution) {
  const std::string text = read_all(input, execution);
  std::int64_t line = 1;
  std::int64_t records = -1;  // the header comes first
  logs::Record record;
  for (std::string_view rest = text; !rest.empty(); rest.remove_prefix(record.size)) {
    const bool blank = rest.starts_with('\n') || rest.starts_with("\r\n");
    if (!blank && records++ == row) return line;
    logs::read_record(rest, ",", 0, record);
    line += record.lines;
  }
  return line;
}

/// The numbers that the ids represent; `no_number` for one that is out of range or not written plainly.
std::vector<std::int32_t> plain_numbers(const Ids& ids, std::int64_t most) {
  std::vector<std::int32_t> numbers;
  for (std::int64_t k = 0; k < ids.size(); ++k) {
    const std::optional<std::int64_t> number = parse_whole_number(ids[k], most);
    const bool plain = number && (ids[k].size() == 1 || ids[k].front() != '0');
    numbers.push_back(plain ? static_cast<std::int32_t>(*number) : no_number);
  }
  return numbers;
}

/// Refuses the first row with an id that is no number.
void check_numbers(const LogInput& input, const Interactions& log, const std::vector<std::int32_t>& uids,
                   const std::vector<std::int32_t>& sids, std::int64_t items, const Execution& execution) {
  const auto complete = [](const std::vector<std::int32_t>& numbers) {
    return std::find(numbers.begin(), numbers.end(), no_number) == numbers.end();
  };
  if (complete(uids) && complete(sids)) return;
  for (std::int64_t r = 0; r < log.rows(); ++r) {
    const bool bad_user = uids[log.user[r]] == no_number;
    if (!bad_user && sids[log.item[r]] != no_number) continue;
    fail(ErrorKind::input,
         "{}:{}: the {} {} is not a whole number from 0 to {} without sign or leading zeros; {}",
         input.path.string(), line_of_row(input, r, execution), bad_user ? "uid" : "sid",
         logs::shown(bad_user ? log.users[log.user[r]] : log.items[log.item[r]]),
         bad_user ? most_uid : items - 1,
         bad_user ? "number the users so" : "it counts the lines of unique_sid.txt");
  }
}

Part read_part(const LogInput& input, const Ids& items, PrepareCounts& counts, const Execution& execution) {
  const std::size_t columns = columns_with_data(input, execution);
  if (columns == 0) return {};
  LogOptions options;
  options.format = LogFormat::csv;
  options.delimiter = ",";
  options.header = Header::yes;
  options.columns = {"1", "2"};
  if (columns >= 3) options.columns.emplace_back("3");
  const Interactions log = logs::read_inputs({input}, options, logs::ReadSizes(), execution);
  if (log.empty_ids > 0) {
    fail(ErrorKind::input, "{}: {} rows have no uid or no sid; correct or remove them", input.path.string(),
         log.empty_ids);
  }
  const std::vector<std::int32_t> uids = plain_numbers(log.users, most_uid);
  Part part;
  part.catalogue.ids = items;
  part.catalogue.number = plain_numbers(log.items, items.size() - 1);
  check_numbers(input, log, uids, part.catalogue.number, items.size(), execution);
  for (std::size_t u = 0; u < uids.size(); ++u) {
    part.user_of_uid.emplace(uids[u], static_cast<std::int32_t>(u));
  }
  part.histories = group_by_user(log, execution);
  counts.duplicates += part.histories.duplicates;
  return part;
}

/// The part's matrix with one row per uid, empty for uids that the part does not have.
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

}  // namespace

Dataset read_pro_sg(const ProSgFiles& files, const Execution& execution) {
  Dataset dataset;
  dataset.split = SplitKind::users;
  dataset.items = read_item_ids(files[0], execution);
  const auto read = [&](std::size_t file) {
    return read_part(files[file], dataset.items, dataset.counts, execution);
  };
  const auto rows = [&](const Part& part, const std::vector<std::int32_t>& uids) {
    return rows_of(part, uids, dataset.items.size(), execution);
  };
  {
    const Part train = read(1);
    const std::vector<std::int32_t> uids = uids_of(train, {});
    if (uids.empty()) {
      fail(ErrorKind::input, "{} holds no interactions; check that it is the right file",
           files[1].path.string());
    }
    dataset.users = as_ids(uids);
    dataset.train = rows(train, uids);
  }
  const auto held_out = [&](std::size_t first) -> HeldOut {
    const Part fold_in = read(first);
    const Part targets = read(first + 1);
    const std::vector<std::int32_t> uids = uids_of(fold_in, targets);
    return {.users = as_ids(uids), .fold_in = rows(fold_in, uids), .targets = rows(targets, uids)};
  };
  dataset.validation = held_out(2);
  dataset.test = held_out(4);
  return dataset;
}

Dataset read_pro_sg(const fs::path& folder, const Execution& execution) {
  ProSgFiles files;
  for (std::size_t k = 0; k < files.size(); ++k) {
    files[k].path = folder / pro_sg_names[k];
    std::error_code ignored;
    if (!fs::exists(files[k].path, ignored)) {
      fail_on_file(ErrorKind::input, "cannot read {}; the pro-sg layout needs it: check the folder",
                   files[k].path.string());
    }
  }
  return read_pro_sg(files, execution);
}

}  // namespace poise
