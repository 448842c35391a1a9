#include <algorithm>

#include <fmt/format.h>

#include "poise/report/findings.hpp"
#include "poise/report/html_parts.hpp"
#include "poise/report/table.hpp"
#include "poise/report/text.hpp"

namespace poise::report {

namespace {

std::string accuracy_cell(const TableCell& cell, const std::string& metric, std::ptrdiff_t row, bool leads) {
  std::string text = estimate_html(cell);
  if (cell.paper) text += fmt::format("<span class=\"paper\">{}</span>", accuracy(*cell.paper));
  const std::string attributes =
      cell.test ? fmt::format("data-row=\"{}\" data-metric=\"{}\"", row, html_text(metric)) : "";
  return fmt::format("<td class=\"number{}{}{}\"{}{}>{}</td>", leads ? " lead" : "", cell.best ? " best" : "",
                     cell.aside ? " aside" : "", attributes.empty() ? "" : " ", attributes, text);
}

std::string field_cell(const StudyRow* row, std::ptrdiff_t index, std::string_view field,
                       const std::string& text) {
  return row ? number_cell(text, fmt::format("data-row=\"{}\" data-field=\"{}\"", index, field))
             : number_cell("");
}

std::string rank_table_html(const StudyResults& results, const RankTable& rank) {
  const auto cells = [&](const TableGroup& group, const TableEntry& entry) {
    std::string text;
    const std::ptrdiff_t index = entry.row ? entry.row - results.rows.data() : 0;
    for (std::size_t metric = 0; metric < results.metrics.size(); ++metric)
      text += accuracy_cell(entry.cells[metric], results.metrics[metric], index, metric == 0);
    std::string alpha =
        entry.row ? fmt::format("<span class=\"value\">{}</span>", setting(entry.row->alpha)) : "";
    if (entry.paper) alpha += fmt::format("<span class=\"paper\">{}</span>", entry.paper->alpha);
    return text + (is_baseline(group.model) ? "<td></td>" : field_cell(entry.row, index, "alpha", alpha));
  };
  const auto beside_name = [](const StudyData& data) {
    return data.paper_data.empty() ? ""
                                   : fmt::format(" <span class=\"paper-name\">beside the paper's {}</span>",
                                                 html_text(paper_data_name(data.paper_data)));
  };
  return html_rank_table(
      results, rank,
      {.heads = {"α"}, .cells = cells, .beside_name = beside_name, .wins = !without_test(results)});
}

/// A row's difference from another, above its p; `name` refers to results.json.
std::string comparison_cell(const std::vector<RowComparison>& all, const StudyRow& row,
                            std::string_view name) {
  const auto found = std::ranges::find_if(
      all, [&](const RowName& candidate) { return candidate == static_cast<const RowName&>(row); });
  if (found == all.end()) return "<td></td>";
  return number_cell(fmt::format("<span class=\"value\">{}</span><span class=\"interval\">{}</span>",
                                 difference(found->test.difference), html_text(p_text(found->corrected_p))),
                     fmt::format("data-{}=\"{}\"", name, found - all.begin()));
}

std::string data_table_html(const StudyResults& results, const StudyTable& table) {
  std::string text =
      "<table class=\"points\"><thead><tr><th scope=\"col\">Model</th><th scope=\"col\" "
      "class=\"number\">Rank</th><td></td>";
  for (const std::string& metric : results.metrics) text += number_head(html_text(metric_name(metric)));
  const bool exponent = has_any(table, &StudyRow::lambda_exponent);
  const bool gamma = has_any(table, &StudyRow::gamma);
  const bool dislikes = has_any(table, &StudyRow::alpha_negative, 1);
  std::vector<std::string> heads = {"α", "λ", "Dropout", "Certificate"};
  const bool compared = !without_test(results);
  if (compared) heads.insert(heads.end(), {"Less the best", "Less popularity"});
  if (dislikes) heads.insert(heads.begin() + 2, "α of dislikes");
  if (gamma) heads.insert(heads.begin() + 2, "γ");
  if (exponent) heads.insert(heads.begin() + 2, "Exponent of λ");
  for (const std::string& head : heads) text += number_head(head);
  text += "</tr></thead>\n";
  const StudyRow* const best = best_on_validation(results, table.data[0]->name);
  for (const TableGroup& group : table.groups) {
    text += "<tbody>";
    for (const TableRow& line : group.rows) {
      const TableEntry& entry = line.entries[0];
      const StudyRow& row = *entry.row;
      const std::ptrdiff_t index = entry.row - results.rows.data();
      text += "<tr>";
      if (&line == &group.rows.front())
        text += model_cell(group) + fmt::format("<td class=\"number\" rowspan=\"{}\">{}</td>",
                                                group.rows.size(), rank_number(group.model));
      text += kind_cell(group.model, line.kind, row_state(row));
      for (std::size_t metric = 0; metric < results.metrics.size(); ++metric) {
        TableCell ours = entry.cells[metric];
        ours.paper.reset();
        text += accuracy_cell(ours, results.metrics[metric], index, false);
      }
      if (is_baseline(group.model)) {
        for (std::size_t column = 0; column < heads.size(); ++column) text += "<td></td>";
      } else {
        text += field_cell(&row, index, "alpha", setting(row.alpha));
        text += field_cell(&row, index, "lambda", setting(row.lambda));
        if (exponent)
          text += field_cell(&row, index, "lambda_exponent",
                             row.lambda_exponent != 0 ? setting(row.lambda_exponent) : "");
        if (gamma) text += field_cell(&row, index, "gamma", row.gamma != 0 ? setting(row.gamma) : "");
        if (dislikes) text += field_cell(&row, index, "alpha_negative", setting(row.alpha_negative));
        text += field_cell(&row, index, "dropout", row.dropout != 0 ? setting(row.dropout) : "");
        text +=
            row.final ? field_cell(&row, index, "certificate", bound(row.certificate.relative)) : "<td></td>";
        if (compared) {
          text += best == &row ? "<td class=\"number\">best on<br>validation</td>"
                               : comparison_cell(results.against_best, row, "against-best");
          text += comparison_cell(results.against_popularity, row, "comparison");
        }
      }
      text += "</tr>\n";
    }
    text += "</tbody>\n";
  }
  return scrolled(text + "</table>", table.data[0]->name);
}

std::string difference_text(const PairedDifference& test) {
  return fmt::format("<span class=\"value\">{}</span><span class=\"interval\">{} to {}</span>",
                     difference(test.difference), difference(test.low), difference(test.high));
}

std::string metric_cells(const StudyResults& results, std::ptrdiff_t place) {
  const StudyPair& pair = results.pairs[place];
  const PairedDifference& test = pair.test;
  return fmt::format(
      "<td class=\"number{}\" data-pair=\"{}\">{}</td><td class=\"number\" data-pair-p=\"{}\">{}</td>",
      direction_class(pair), place, difference_text(test), place,
      pair.complete ? html_text(p_value(test.p)) : "search not complete");
}

// The pairs of one data set, model and kind form one line, for any number of metrics.
struct PairLine {
  const StudyPair* first = nullptr;
  std::vector<std::ptrdiff_t> by_metric;  ///< places in StudyResults::pairs; -1: none
};

std::vector<PairLine> pair_lines(const StudyResults& results) {
  std::vector<PairLine> lines;
  for (const StudyPair& pair : results.pairs) {
    const RowName& name = pair;
    auto line = std::ranges::find_if(lines, [&](const PairLine& known) { return name == *known.first; });
    if (line == lines.end())
      line = lines.insert(lines.end(), {&pair, std::vector<std::ptrdiff_t>(results.metrics.size(), -1)});
    const auto metric = std::ranges::find(results.metrics, pair.metric) - results.metrics.begin();
    if (metric < std::ssize(results.metrics)) line->by_metric[metric] = &pair - results.pairs.data();
  }
  return lines;
}

}  // namespace

std::string rank_tables_html(const StudyResults& results) {
  std::string text;
  for (const RankTable& rank : tables_by_rank(results)) {
    const std::string finding = rank_finding(results, rank.rank);
    text += fmt::format("<h3>{}{}{}</h3>\n{}", rank_heading(rank.rank), finding.empty() ? "" : ": ", finding,
                        rank_table_html(results, rank));
  }
  return text;
}

std::string data_tables_html(const StudyResults& results) {
  std::string text;
  for (const StudyTable& table : tables_by_data(results))
    text += fmt::format("<h3>{}</h3>\n{}", html_text(table.data[0]->name), data_table_html(results, table));
  return text;
}

std::string pairs_html(const StudyResults& results) {
  std::string text = fmt::format("<table class=\"pairs\"><thead><tr>{}", pair_heads());
  for (const std::string& metric : results.metrics)
    text += fmt::format("<th scope=\"col\" class=\"number\">{}</th><th scope=\"col\" class=\"number\">p</th>",
                        html_text(metric_name(metric)));
  text += "</tr></thead>\n";
  const std::vector<PairLine> lines = pair_lines(results);
  for (const StudyData& part : results.data) {
    text += data_line(part.name, 3 + 2 * results.metrics.size());
    for (const PairLine& line : lines) {
      if (line.first->data != part.name) continue;
      text += "<tr>" + pair_cells(line.first->model, line.first->kind);
      for (const std::ptrdiff_t place : line.by_metric)
        text += place < 0 ? "<td></td><td></td>" : metric_cells(results, place);
      text += "</tr>\n";
    }
    text += "</tbody>\n";
  }
  return scrolled(text + "</table>", "Weighted less unweighted");
}

std::string data_summary_html(const StudyResults& results) {
  std::string text = "<table class=\"data\"><thead><tr><th scope=\"col\">Data</th>";
  for (const char* head :
       {"Users", "Items", "Interactions", "Density", "Training users", "Validation users", "Test users"})
    text += number_head(head);
  text += "<th scope=\"col\">Checksum</th></tr></thead><tbody>\n";
  for (const StudyData& part : results.data) {
    const double cells = static_cast<double>(part.users) * static_cast<double>(part.items);
    text += fmt::format("<tr data-set=\"{}\"><th scope=\"row\">{}</th>", &part - results.data.data(),
                        html_text(part.name));
    for (const std::string& value :
         {grouped(part.users), grouped(part.items), grouped(part.interactions),
          cells > 0 ? fmt::format("{:.3g} %", 100.0 * static_cast<double>(part.interactions) / cells) : "",
          grouped(part.train_users), grouped(part.validation_users), grouped(part.test_users)})
      text += number_cell(value);
    text += fmt::format("<td class=\"checksum\">{}</td></tr>\n", html_text(part.checksum));
  }
  std::string notes;
  for (const StudyData& part : results.data) {
    if (const std::string note = validation_note(part); !note.empty())
      notes += fmt::format("<p><b>{}</b>: {}</p>\n", html_text(part.name), note);
  }
  return scrolled(text + "</tbody></table>", "Data") + notes;
}

}  // namespace poise::report
