#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>

#include "poise/base/error.hpp"
#include "poise/study/models.hpp"

#include "model_flags.hpp"

namespace poise::app {

namespace {

bool is_zero(const std::string& text) { return text != "auto" && std::strtod(text.c_str(), nullptr) == 0; }

/// Whether the flags have all parameters that a kind fixes.
bool fixes(const ModelKind& kind, const ModelFlags& flags) {
  return std::ranges::all_of(kind.fixed, [&](const auto& fixed) {
    const auto given = flags.given.find(fixed.first);
    return given != flags.given.end() && given->second.front() == fixed.second;
  });
}

void expand_fixed(const ModelKind& kind, ModelFlags& flags) {
  for (const auto& [id, text] : kind.fixed) {
    if (flags.has(id) && flags.given[id].front() != text)
      fail(ErrorKind::usage, "--model {} is {} with --{} {}, not {}; use --model {}, or no --{}",
           flags.short_form, flags.model, id, text, flags.given[id].front(), flags.model, id);
    flags.given[id] = {text};
  }
}

/// Refuses an axis that belongs to another kind with the same fixed parameters alone.
void refuse_others(const ModelKind& kind, const ModelFlags& flags) {
  for (const ModelKind& other : studied_kinds()) {
    if (other.family != kind.family || !fixes(other, flags)) continue;
    for (const KindAxis& axis : other.axes) {
      const bool own = std::ranges::find(kind.axes, axis.id, &KindAxis::id) != kind.axes.end();
      if (axis.exclusive && !own && flags.has(axis.id) &&
          !std::ranges::all_of(flags.given.at(axis.id), is_zero))
        fail(ErrorKind::usage, "--model {} has no --{}; with one it is --model {}", flags.short_form, axis.id,
             other.name);
    }
  }
}

/// The kind with the same fixed parameters that has no axes.
std::string plain_name(const ModelKind& kind, const ModelFlags& flags) {
  std::string name(family_name(kind.family));
  for (const ModelKind& other : studied_kinds()) {
    if (other.family == kind.family && other.axes.empty() && fixes(other, flags)) name = other.name;
  }
  return name;
}

void expand_axis(const ModelKind& kind, const KindAxis& axis, ModelFlags& flags, Usual usual) {
  if (!flags.has(axis.id)) {
    std::vector<double> values = usual == Usual::range ? axis.range : axis.values;
    if (usual == Usual::middle) values = {values[values.size() / 2]};
    for (const double value : values) flags.given[axis.id].push_back(fmt::format("{}", value));
  } else if (std::ranges::any_of(flags.given.at(axis.id), is_zero)) {
    fail(ErrorKind::usage, "--model {} needs a --{} {}; without one it is --model {}", flags.short_form,
         axis.id, axis.needs, plain_name(kind, flags));
  }
}

}  // namespace

void expand_short_form(ModelFlags& flags, Usual usual) {
  const ModelKind* const kind = find_kind(flags.model);
  if (kind == nullptr || family_name(kind->family) == flags.model) return;
  flags.short_form = std::exchange(flags.model, std::string(family_name(kind->family)));
  expand_fixed(*kind, flags);
  refuse_others(*kind, flags);
  for (const KindAxis& axis : kind->axes) expand_axis(*kind, axis, flags, usual);
}

}  // namespace poise::app
