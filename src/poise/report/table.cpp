#include "poise/report/table.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <span>
#include <tuple>

#include "poise/model/family.hpp"
#include "poise/report/text.hpp"

namespace poise::report {

namespace {

constexpr std::array kinds = {RowKind::weighted, RowKind::unweighted, RowKind::down_weighted};

// The paper's order of models, then those beyond it, then unknown ones, then the baseline.
auto order(const StudyModel& model) {
  const std::int64_t rank = model.rank.value_or(std::numeric_limits<std::int64_t>::max());
  const auto place = std::ranges::find(model_kinds(), model.key, &ModelKind::key) - model_kinds().begin();
  return std::tuple(is_baseline(model), -rank, place, model.zero_diagonal, model.neighbours);
}

std::vector<StudyModel> models_of(const StudyResults& results) {
  std::vector<StudyModel> models;
  for (const StudyRow& row : results.rows) {
    if (std::ranges::find(models, row.model) == models.end()) models.push_back(row.model);
  }
  std::ranges::stable_sort(models, std::less{}, order);
  return models;
}

TableEntry entry(const StudyResults& results, const StudyData& data, const StudyModel& model, RowKind kind) {
  TableEntry result;
  result.row = find_row(results, data.name, model, kind);
  if (!data.paper_data.empty()) result.paper = paper_figure(model, kind, data.paper_data);
  for (const std::string& metric : results.metrics) {
    TableCell cell;
    if (result.row) {
      cell.test = find(result.row->test, metric);
      if (!cell.test) {
        cell.test = find(result.row->validation, metric);
        cell.aside = cell.test != nullptr && !without_test(results);
      }
      cell.pair = find_pair(results, data.name, model, kind, metric);
    }
    if (result.paper) cell.paper = result.paper->value(metric);
    result.cells.push_back(cell);
  }
  return result;
}

// Only printed digits decide: with full precision one of two equal figures would be bold.
void mark_best(TableGroup& group, std::size_t data, std::size_t metric) {
  TableRow* best = nullptr;
  double highest = -std::numeric_limits<double>::infinity();
  int measured = 0;
  for (TableRow& row : group.rows) {
    const TableCell& cell = row.entries[data].cells[metric];
    const Estimate* test = cell.aside ? nullptr : cell.test;
    if (!test) continue;
    ++measured;
    const double value = as_printed(test->mean);
    if (value == highest) best = nullptr;
    if (value > highest) {
      highest = value;
      best = &row;
    }
  }
  if (measured < 2) return;
  ++group.compared;
  if (!best) return;
  best->entries[data].cells[metric].best = true;
  ++best->wins;
}

TableGroup group(const StudyResults& results, std::span<const StudyData* const> data,
                 const StudyModel& model) {
  TableGroup result{.model = model, .rows = {}};
  for (const RowKind kind : kinds) {
    TableRow row{.kind = kind, .entries = {}};
    for (const StudyData* part : data) row.entries.push_back(entry(results, *part, model, kind));
    if (std::ranges::any_of(row.entries, [](const TableEntry& entry) { return entry.row != nullptr; }))
      result.rows.push_back(std::move(row));
  }
  // Rows that were chosen on these users cannot win on them.
  if (without_test(results)) return result;
  for (std::size_t part = 0; part < data.size(); ++part) {
    for (std::size_t metric = 0; metric < results.metrics.size(); ++metric) mark_best(result, part, metric);
  }
  return result;
}

StudyTable table(const StudyResults& results, std::vector<const StudyData*> data,
                 std::span<const StudyModel> models) {
  StudyTable result{.data = std::move(data), .groups = {}};
  for (const StudyModel& model : models) {
    TableGroup rows = group(results, result.data, model);
    if (!rows.rows.empty()) result.groups.push_back(std::move(rows));
  }
  return result;
}

}  // namespace

std::vector<RankTable> tables_by_rank(const StudyResults& results) {
  const std::vector<StudyModel> models = models_of(results);
  std::vector<const StudyData*> data;
  for (const StudyData& part : results.data) data.push_back(&part);
  std::vector<RankTable> tables;
  for (const StudyModel& first : models) {
    if (is_baseline(first) || (!tables.empty() && tables.back().rank == first.rank)) continue;
    std::vector<StudyModel> of_rank;
    for (const StudyModel& model : models) {
      if (is_baseline(model) || model.rank == first.rank) of_rank.push_back(model);
    }
    tables.push_back({first.rank, table(results, data, of_rank)});
  }
  return tables;
}

RankColumns rank_columns(const StudyResults& results) {
  return {.alpha = [](const StudyRow& row) { return setting(row.alpha); },
          .wins = !without_test(results),
          .paper = true};
}

std::vector<StudyTable> tables_by_data(const StudyResults& results) {
  const std::vector<StudyModel> models = models_of(results);
  std::vector<StudyTable> tables;
  for (const StudyData& part : results.data) tables.push_back(table(results, {&part}, models));
  return tables;
}

bool has_any(const StudyTable& table, double StudyRow::*member, double usual) {
  return std::ranges::any_of(table.groups, [&](const TableGroup& group) {
    return std::ranges::any_of(group.rows, [&](const TableRow& row) {
      return std::ranges::any_of(row.entries, [&](const TableEntry& entry) {
        return entry.row != nullptr && entry.row->*member != usual;
      });
    });
  });
}

}  // namespace poise::report
