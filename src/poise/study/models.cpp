#include "poise/study/models.hpp"

#include <algorithm>

#include <fmt/ranges.h>

#include "poise/base/error.hpp"
#include "poise/base/suggest.hpp"
#include "poise/search/space_axes.hpp"
#include "poise/train/parameter_table.hpp"

namespace poise {
namespace {

std::vector<ModelKind> kinds_where(const std::function<bool(const ModelKind&)>& wanted) {
  std::vector<ModelKind> kinds;
  std::ranges::copy_if(model_kinds(), std::back_inserter(kinds),
                       [&](const ModelKind& kind) { return !kind.name.empty() && wanted(kind); });
  return kinds;
}

}  // namespace

const std::vector<ModelKind>& studied_kinds() {
  static const std::vector<ModelKind> kinds = kinds_where([](const ModelKind&) { return true; });
  return kinds;
}

std::vector<ModelKind> kinds_of_all() { return kinds_where(&ModelKind::in_all); }

const ModelKind* find_kind(std::string_view name) {
  const auto found = std::ranges::find(studied_kinds(), name, &ModelKind::name);
  return found == studied_kinds().end() ? nullptr : &*found;
}

std::vector<std::string> kind_names() {
  std::vector<std::string> names = {"all"};
  for (const ModelKind& kind : studied_kinds()) names.push_back(kind.name);
  for (const ModelKind& kind : studied_kinds()) {
    if (!kind.number().empty()) names.push_back(kind.number());
  }
  return names;
}

std::vector<std::string> numbered_names(std::span<const ModelKind> kinds) {
  std::vector<std::string> names;
  for (const ModelKind& kind : kinds)
    names.push_back(kind.number().empty() ? kind.name : fmt::format("{} ({})", kind.name, kind.number()));
  return names;
}

std::vector<ModelKind> parse_kinds(std::string_view text) {
  if (text == "all") return kinds_of_all();
  std::vector<std::string_view> wanted;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    const std::string_view name = text.substr(0, comma);
    text.remove_prefix(std::min(comma + 1, text.size()));
    const std::vector<std::string> known = kind_names();
    if (name == "all" || std::ranges::find(known, name) == known.end()) {
      const std::vector<std::string> names = numbered_names(studied_kinds());
      fail(ErrorKind::usage, "there is no model \"{}\" to study{}; there are all, {} and {}", name,
           did_you_mean(name, known), fmt::join(std::span(names).first(names.size() - 1), ", "),
           names.back());
    }
    wanted.push_back(name);
  }
  if (wanted.empty()) fail(ErrorKind::usage, "{} needs at least one model", "models"_p);
  return kinds_where([&](const ModelKind& kind) {
    return std::ranges::any_of(
        wanted, [&](std::string_view name) { return name == kind.name || name == kind.number(); });
  });
}

SearchSpace space_of(const ModelKind& kind, std::optional<std::int64_t> rank, const ModelParameters& base,
                     SearchMethod method) {
  SearchSpace space{.base = base, .method = method};
  if (method == SearchMethod::best) {
    space.lambda.clear();
    space.alpha.clear();
  }
  space.base.family = kind.family;
  for (const auto& [id, text] : kind.fixed) set_value(space.base, id, text);
  if (kind.low_rank()) space.base.rank = rank.value_or(base.rank);
  for (const KindAxis& axis : kind.axes)
    set_axis(space, axis.id, method == SearchMethod::best ? axis.range : axis.values);
  return space;
}

}  // namespace poise
