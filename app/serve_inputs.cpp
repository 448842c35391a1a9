#include "serve_inputs.hpp"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <unordered_set>

#include <fmt/format.h>

#include "poise/base/error.hpp"
#include "poise/base/utf8.hpp"
#include "poise/data/count_names.hpp"
#include "poise/data/dataset_file.hpp"
#include "poise/data/item_index.hpp"

#include "recommend_histories.hpp"

namespace poise::app {

namespace {

std::vector<std::string> ids_in(const std::filesystem::path& path) {
  std::vector<std::string> ids;
  for (IdLine& line : read_id_lines(path)) ids.push_back(std::move(line.id));
  return ids;
}

void add_entries(CsrView from, std::int64_t row, HistoryEntries& entries) {
  for (std::int64_t e = from.offsets[row]; e < from.offsets[row + 1]; ++e)
    entries.emplace_back(from.indices[e], from.values.empty() ? 1.0F : from.values[e]);
}

}  // namespace

std::vector<serve::ModelSource> model_sources(const std::vector<std::string>& arguments) {
  std::vector<serve::ModelSource> sources;
  for (const std::string& argument : arguments) {
    const std::size_t equals = argument.find('=');
    // A file may have a '=' in its path: a name has no '/'.
    const bool named = equals != std::string::npos && argument.find('/') > equals;
    serve::ModelSource source{.name = named ? argument.substr(0, equals) : std::string(),
                              .path = named ? argument.substr(equals + 1) : argument};
    if (!named) source.name = source.path.stem().string();
    if (source.name.empty() || source.path.empty())
      fail(ErrorKind::usage, "'{}' is neither a file nor NAME=FILE", argument);
    // Requests, logs and metrics write it.
    if (!is_utf8(source.name) || std::ranges::any_of(source.name, [](char c) { return c >= 0 && c < ' '; }))
      fail(ErrorKind::usage, "model number {} has a name that is no UTF-8 text of one line; write NAME=FILE",
           sources.size() + 1);
    if (std::ranges::find(sources, source.name, &serve::ModelSource::name) != sources.end())
      fail(ErrorKind::usage, "two models are called '{}'; name one of them, as in other={}", source.name,
           source.path.string());
    sources.push_back(std::move(source));
  }
  return sources;
}

std::vector<serve::TrafficShare> traffic_shares(const std::vector<std::string>& arguments) {
  std::vector<serve::TrafficShare> shares;
  for (const std::string& argument : arguments) {
    const std::size_t equals = argument.rfind('=');
    double share = 0;
    const char* const end = argument.data() + argument.size();
    const char* const begin = equals == std::string::npos ? end : argument.data() + equals + 1;
    const auto [stop, error] = std::from_chars(begin, end, share);
    if (error != std::errc() || stop != end || !(share > 0 && share <= 1))
      fail(ErrorKind::usage,
           "--ab takes NAME=SHARE with a share above 0 and at most 1, as in wmf=0.1, not '{}'", argument);
    shares.push_back({.model = argument.substr(0, equals), .share = share});
  }
  return shares;
}

serve::ItemFilters item_filters(const std::filesystem::path& exclude, const std::filesystem::path& only) {
  serve::ItemFilters filters;
  if (!exclude.empty()) filters.exclude = ids_in(exclude);
  if (!only.empty()) filters.only = ids_in(only);
  return filters;
}

namespace {

/// Whether any part has dislikes. Then every user gets a row of them, perhaps an empty one.
bool has_dislikes(const Dataset& data) {
  const auto of_part = [](const std::optional<HeldOut>& part) { return part && part->disliked.rows > 0; };
  return data.disliked.rows > 0 || of_part(data.validation) || of_part(data.test);
}

/// Of a split in time: a user's last part has all that it has before, and training users in none have their
/// rows.
UserHistories histories_over_parts(const Dataset& data) {
  UserHistories result{.users = {}, .items = data.items, .liked = {}, .seen = {}};
  result.liked.cols = data.train.cols;
  result.liked.offsets = {0};
  const auto values = data.train.values.empty() ? EntryValues::dropped : EntryValues::kept;
  std::unordered_set<std::string_view> known;
  HistoryEntries entries;
  const bool with_dislikes = has_dislikes(data);
  if (with_dislikes) result.disliked = {.rows = 0, .cols = data.train.cols, .offsets = {0}};
  const auto add = [&](const Ids& users, const Csr& history, const Csr* targets, const Csr& disliked) {
    for (std::int64_t u = 0; u < users.size(); ++u) {
      if (!known.insert(users[u]).second) continue;
      entries.clear();
      add_entries(history.view(), u, entries);
      if (targets != nullptr) add_entries(targets->view(), u, entries);
      append_history(result.liked, entries, values);
      result.users.push_back(users[u]);
      if (!with_dislikes) continue;
      entries.clear();
      if (disliked.rows > 0) add_entries(disliked.view(), u, entries);
      append_history(result.disliked, entries, EntryValues::dropped);
    }
  };
  for (const auto* part : {&data.test, &data.validation}) {
    if (*part) add((*part)->users, (*part)->fold_in, &(*part)->targets, (*part)->disliked);
  }
  add(data.users, data.train, nullptr, data.disliked);
  return result;
}

}  // namespace

UserHistories histories_of(const Dataset& data) {
  if (shares_users(data.split)) return histories_over_parts(data);
  UserHistories result{
      .users = data.users, .items = data.items, .liked = data.train, .disliked = data.disliked, .seen = {}};
  if (data.split != SplitKind::users) return result;
  const auto values = data.train.values.empty() ? EntryValues::dropped : EntryValues::kept;
  const bool with_dislikes = has_dislikes(data);
  if (with_dislikes && data.disliked.rows == 0)
    result.disliked = {.rows = data.train.rows,
                       .cols = data.train.cols,
                       .offsets = std::vector<std::int64_t>(data.train.rows + 1, 0)};
  HistoryEntries entries;
  for (const auto* part : {&data.validation, &data.test}) {
    if (!*part) continue;
    const HeldOut& held_out = **part;
    for (std::int64_t u = 0; u < held_out.users.size(); ++u) {
      entries.clear();
      add_entries(held_out.fold_in.view(), u, entries);
      add_entries(held_out.targets.view(), u, entries);
      append_history(result.liked, entries, values);
      result.users.push_back(held_out.users[u]);
      if (!with_dislikes) continue;
      entries.clear();
      if (held_out.disliked.rows > 0) add_entries(held_out.disliked.view(), u, entries);
      append_history(result.disliked, entries, EntryValues::dropped);
    }
  }
  return result;
}

UserHistories served_histories(const std::filesystem::path& path, const LogFlags& flags,
                               const Context& context) {
  if (std::filesystem::is_directory(path) && std::filesystem::exists(path / "data.poise"))
    return histories_of(read_dataset(path, context.execution).dataset);
  return read_user_histories(path, flags, context);
}

}  // namespace poise::app
