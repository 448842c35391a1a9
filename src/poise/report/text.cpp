#include "poise/report/text.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "poise/model/family.hpp"

namespace poise::report {

namespace {

const ModelKind* named(const StudyModel& model) {
  const auto found = std::ranges::find_if(model_kinds(), [&](const ModelKind& candidate) {
    return candidate.key == model.key && candidate.zero_diagonal == model.zero_diagonal;
  });
  return found == model_kinds().end() ? nullptr : &*found;
}

/// ", 100 neighbours" after a name; nothing for a dense model.
std::string neighbours_of(const StudyModel& model) {
  return model.neighbours > 0 ? fmt::format(", {} neighbours", grouped(model.neighbours)) : "";
}

/// ", linear weights" after a name; nothing for constant weights, the default.
std::string weights_of(const StudyModel& model) {
  if (model.weighting == "constant" || is_baseline(model)) return "";
  return model.weighting == "none" ? ", no weights" : fmt::format(", {} weights", model.weighting);
}

}  // namespace

std::string accuracy(double value) { return fmt::format("{:.3f}", value); }

double as_printed(double value) {
  const std::string text = accuracy(value);
  double printed = std::nan("");
  std::from_chars(text.data(), text.data() + text.size(), printed);
  return printed;
}

std::string difference(double value) { return fmt::format("{:+.4f}", value); }

std::string p_value(double p) { return p < 0.001 ? "< 0.001" : fmt::format("{:.3f}", p); }

std::string p_text(double p) {
  const std::string text = p_value(p);
  return text.starts_with('<') ? "p " + text : "p = " + text;
}

int direction(const PairedDifference& test) {
  if (!(test.p < significant)) return 0;
  return test.difference > 0 ? 1 : -1;
}

int direction(const StudyPair& pair) { return pair.complete ? direction(pair.test) : 0; }

std::string bound(double value) {
  if (!std::isfinite(value)) return "none";
  if (value == 0) return "0";
  std::string text = fmt::format("{:.1e}", value);
  const std::size_t digits = text.find('e') + 2;
  if (digits < text.size() && text[digits] == '0') text.erase(digits, 1);
  return text;
}

std::string setting(double value) {
  std::string text = fmt::format("{}", value);
  return text.size() <= 6 ? text : fmt::format("{:.4g}", value);
}

std::string grouped(std::int64_t value) {
  std::string text = fmt::format("{}", value);
  for (std::ptrdiff_t at = std::ssize(text) - 3; at > (value < 0 ? 1 : 0); at -= 3) text.insert(at, ",");
  return text;
}

std::string duration(double seconds) {
  if (seconds < 60) return fmt::format("{:.1f} s", seconds);
  const auto minutes = static_cast<std::int64_t>(std::llround(seconds / 60));
  if (minutes < 60) return fmt::format("{} min", minutes);
  return fmt::format("{} h {} min", minutes / 60, minutes % 60);
}

std::string model_name(const StudyModel& model) {
  const ModelKind* const known = named(model);
  const std::string title = known ? known->title : model.key + (model.zero_diagonal ? ", zero diagonal" : "");
  return title + neighbours_of(model) + weights_of(model);
}

std::string ranked_name(const StudyModel& model) {
  return model.rank ? fmt::format("{}, {}", model_name(model), rank_name(model.rank)) : model_name(model);
}

std::string row_name(const StudyModel& model, RowKind kind) {
  return is_baseline(model) ? ranked_name(model) : fmt::format("{}, {}", ranked_name(model), to_string(kind));
}

std::string variant_name(const StudyModel& model) {
  const ModelKind* known = named(model);
  if (!known) return model_name(model);
  std::string variant = (known->variant == "plain" ? "" : known->variant) + neighbours_of(model);
  if (model.weighting != "constant") variant += ", " + model.weighting;
  if (variant.starts_with(", ")) variant.erase(0, 2);
  return variant.empty() ? known->variant : variant;
}

std::string numbered_name(const StudyModel& model) {
  const ModelKind* known = named(model);
  const std::string name = model_name(model);
  return known && !known->number().empty() && model.neighbours == 0
             ? fmt::format("{}. {}", known->number(), name)
             : name;
}

bool is_baseline(const StudyModel& model) { return model.key == "popularity"; }

std::string kind_name(const StudyModel& model, RowKind kind) {
  return is_baseline(model) ? "" : std::string(to_string(kind));
}

std::string row_state(const StudyRow& row) {
  if (!row.search_complete) return "search not complete";
  return row.final ? "" : "not trained yet";
}

std::string users_of(const StudyResults& results) {
  return without_test(results) ? "validation users" : "test users";
}

std::string rank_number(const StudyModel& model) {
  if (is_baseline(model)) return "";
  return model.rank ? fmt::format("{}", *model.rank) : "full";
}

std::string count_or_none(std::int64_t count) { return count == 0 ? "none" : fmt::format("{}", count); }

std::string wins(int count, int compared) {
  return compared > 0 ? fmt::format("{}/{}", count, compared) : "";
}

std::string rank_name(const std::optional<std::int64_t>& rank) {
  return rank ? fmt::format("rank {}", *rank) : "full rank";
}

std::string rank_heading(const std::optional<std::int64_t>& rank) {
  return rank ? fmt::format("Rank {}", *rank) : "Full rank";
}

std::string metric_name(const std::string& metric) {
  if (metric.starts_with("ndcg@")) return "nDCG" + metric.substr(4);
  if (metric.starts_with("recall@")) return "Recall" + metric.substr(6);
  return metric;
}

std::string paper_data_name(const std::string& data) {
  if (data == "ml-20m") return "ML-20M";
  if (data == "netflix") return "Netflix";
  if (data == "msd") return "MSD";
  return data;
}

}  // namespace poise::report
