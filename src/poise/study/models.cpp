#include "poise/study/models.hpp"

#include <algorithm>

#include "poise/base/error.hpp"
#include "poise/base/suggest.hpp"

namespace poise {
namespace {

/// Around the published best ones (0.25 to 0.33).
const std::vector<double> edlae_dropouts = {0.25, 0.33, 0.5};
const std::vector<double> edlae_range = {0.05, 0.9};

/// 0 is the plain model, which has rows of its own.
const std::vector<double> popularity_exponents = {0.25, 0.5, 0.75};
const std::vector<double> popularity_range = {0.1, 1};

/// Of a name or a number of the paper.
const StudiedKind* named_or_numbered(std::string_view name) {
  const std::vector<StudiedKind>& kinds = studied_kinds();
  for (std::size_t k = 0; k < 5; ++k) {
    if (name == std::to_string(k + 1)) return &kinds[k];
  }
  return find_kind(name);
}

}  // namespace

const std::vector<StudiedKind>& studied_kinds() {
  static const std::vector<StudiedKind> kinds = {
      {.key = "awmf/weight-decay", .name = "weight-decay", .low_rank = true},
      {.key = "wmf", .name = "wmf", .low_rank = true},
      {.key = "awmf/dropout", .name = "dropout", .low_rank = true},
      {.key = "awmf/data-weight-decay", .name = "data-weight-decay", .low_rank = true},
      {.key = "full-rank", .name = "full-rank"},
      {.key = "full-rank", .name = "ease", .zero_diagonal = true},
      {.key = "full-rank/dropout", .name = "edlae", .zero_diagonal = true},
      {.key = "full-rank/lambda-exponent", .name = "full-rank-nu", .in_all = false},
      {.key = "full-rank/lambda-exponent", .name = "ease-nu", .zero_diagonal = true, .in_all = false}};
  return kinds;
}

std::vector<StudiedKind> kinds_of_all() {
  std::vector<StudiedKind> kinds = studied_kinds();
  std::erase_if(kinds, [](const StudiedKind& kind) { return !kind.in_all; });
  return kinds;
}

const StudiedKind* find_kind(std::string_view name) {
  const auto found = std::ranges::find(studied_kinds(), name, &StudiedKind::name);
  return found == studied_kinds().end() ? nullptr : &*found;
}

std::vector<std::string> kind_names() {
  std::vector<std::string> names = {"all"};
  for (const StudiedKind& kind : studied_kinds()) names.push_back(kind.name);
  for (const char* const number : {"1", "2", "3", "4", "5"}) names.emplace_back(number);
  return names;
}

std::vector<StudiedKind> parse_kinds(std::string_view text) {
  if (text == "all") return kinds_of_all();
  std::vector<const StudiedKind*> wanted;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    const std::string_view name = text.substr(0, comma);
    text.remove_prefix(std::min(comma + 1, text.size()));
    const StudiedKind* const kind = named_or_numbered(name);
    if (kind == nullptr)
      fail(ErrorKind::usage,
           "there is no model \"{}\" to study{}; there are all, weight-decay (1), wmf (2), dropout (3), "
           "data-weight-decay (4), full-rank (5), ease, edlae, full-rank-nu and ease-nu",
           name, did_you_mean(name, kind_names()));
    wanted.push_back(kind);
  }
  if (wanted.empty()) fail(ErrorKind::usage, "--models needs at least one model");
  std::vector<StudiedKind> kinds;
  for (const StudiedKind& kind : studied_kinds()) {
    if (std::ranges::find(wanted, &kind) != wanted.end()) kinds.push_back(kind);
  }
  return kinds;
}

SearchSpace space_of(const StudiedKind& kind, std::optional<std::int64_t> rank, const ModelParameters& base,
                     SearchMethod method) {
  SearchSpace space{.base = base, .method = method};
  if (method == SearchMethod::best) {
    space.lambda.clear();
    space.alpha.clear();
  }
  ModelParameters& parameters = space.base;
  if (kind.low_rank) {
    parameters.family = kind.key == "wmf" ? Family::wmf : Family::awmf;
    if (parameters.family == Family::awmf)
      parameters.regularizer = parse_regularizer(kind.key.substr(kind.key.find('/') + 1));
    parameters.rank = rank.value_or(parameters.rank);
    return space;
  }
  parameters.family = Family::full_rank;
  parameters.zero_diagonal = kind.zero_diagonal;
  if (kind.key == "full-rank/dropout")
    space.dropout = method == SearchMethod::best ? edlae_range : edlae_dropouts;
  if (kind.key == "full-rank/lambda-exponent")
    space.lambda_exponent = method == SearchMethod::best ? popularity_range : popularity_exponents;
  return space;
}

}  // namespace poise
