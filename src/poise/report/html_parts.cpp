#include "poise/report/html_parts.hpp"

#include <map>

#include <fmt/format.h>

#include "poise/report/assets.hpp"
#include "poise/report/text.hpp"

namespace poise::report {

namespace {

// A line may break after a hyphen, but not after a minus.
std::string with_minus(const std::string& text) {
  std::string result;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const bool negative = text[at] == '-' && at > 0 && (text[at - 1] == 'e' || text[at - 1] == ' ') &&
                          at + 1 < text.size() && text[at + 1] >= '0' && text[at + 1] <= '9';
    result += negative ? "−" : std::string(1, text[at]);
  }
  return result;
}

}  // namespace

std::string html_text(std::string_view text) {
  static const std::map<char, std::string_view> entities = {
      {'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&quot;"}, {'\'', "&#39;"}};
  std::string result;
  for (const char c : text) {
    const auto entity = entities.find(c);
    result += entity == entities.end() ? std::string_view(&c, 1) : entity->second;
  }
  return result;
}

std::string html_head(std::string_view policy, const std::string& title) {
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"{}\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n<title>{}</title>\n<style>\n{}</style>\n</head>\n"
      "<body>\n",
      policy, html_text(title), assets::page_css);
}

std::string html_section(std::string_view id, const std::string& heading, const std::string& body) {
  return fmt::format("<section id=\"{}\">\n<h2>{}</h2>\n{}</section>\n", id, html_text(with_minus(heading)),
                     body);
}

std::string html_findings(const StudyResults& results,
                          const std::function<std::string(const StudyData& data)>& more) {
  std::string text;
  for (const StudyData& part : results.data) {
    std::string lines;
    for (const StudyConclusion& conclusion : results.conclusions) {
      if (conclusion.data != part.name) continue;
      const std::string rank =
          conclusion.overall ? "" : fmt::format("<b>{}</b> ", rank_heading(conclusion.rank));
      lines += fmt::format("<li>{}{}</li>\n", rank, html_text(conclusion.sentence));
    }
    lines += more(part);
    if (!lines.empty())
      text += fmt::format("<section><h2>{}</h2>\n<ul>\n{}</ul></section>\n", html_text(part.name), lines);
  }
  return text;
}

std::string html_options(const StudyResults& results,
                         const std::vector<std::pair<std::string, std::string>>& more) {
  std::vector<std::pair<std::string, std::string>> all = results.options;
  all.insert(all.end(), more.begin(), more.end());
  all.emplace_back("time of the last run", duration(results.seconds));
  all.emplace_back("Poise", results.version);
  std::string text = "<dl class=\"options\">\n";
  for (const auto& [name, value] : all)
    text += fmt::format("<div><dt>{}</dt><dd>{}</dd></div>\n", html_text(name), html_text(value));
  return text + "</dl>\n";
}

std::string scrolled(const std::string& table, const std::string& name) {
  return fmt::format(
      "<div class=\"wide\"><div class=\"scroll\" tabindex=\"0\" role=\"region\" "
      "aria-label=\"{}\">{}</div></div>\n",
      html_text(name), table);
}

std::string number_cell(const std::string& text, const std::string& attributes) {
  return fmt::format("<td class=\"number\"{}{}>{}</td>", attributes.empty() ? "" : " ", attributes, text);
}

std::string number_head(const std::string& text) {
  return fmt::format("<th scope=\"col\" class=\"number\">{}</th>", text);
}

std::string estimate_html(const TableCell& cell) {
  if (!cell.test) return "";
  std::string text =
      fmt::format("{}<span class=\"value\">{}</span>", cell.aside ? "(" : "", accuracy(cell.test->mean));
  if (cell.test->standard_error)
    text += fmt::format("<span class=\"error\">±{}</span>", accuracy(*cell.test->standard_error));
  if (cell.aside) text += ")";
  const int found = cell.pair ? direction(*cell.pair) : 0;
  return text + fmt::format("<span class=\"mark\">{}</span>", found == 0 ? "" : found > 0 ? "↑" : "↓");
}

std::string kind_cell(const StudyModel& model, RowKind kind, const std::string& state) {
  if (is_baseline(model)) return "<td></td>";
  const std::string mark = state.empty() ? "" : fmt::format("<small>{}</small>", state);
  return fmt::format("<td class=\"kind {0}{1}\"><span>{0}</span>{2}</td>", to_string(kind),
                     state.empty() ? "" : " open", mark);
}

std::string model_cell(const TableGroup& group) {
  return fmt::format("<th scope=\"rowgroup\" class=\"model\" rowspan=\"{}\">{}</th>", group.rows.size(),
                     html_text(numbered_name(group.model)));
}

std::string html_rank_table(const StudyResults& results, const RankTable& rank, const HtmlRankTable& with) {
  std::string names;
  std::string heads;
  for (const StudyData* data : rank.table.data) {
    names += fmt::format("<th scope=\"colgroup\" colspan=\"{}\">{}{}</th>",
                         results.metrics.size() + with.heads.size(), html_text(data->name),
                         with.beside_name ? with.beside_name(*data) : "");
    for (const std::string& metric : results.metrics) heads += number_head(html_text(metric_name(metric)));
    for (const std::string& head : with.heads) heads += number_head(head);
  }
  std::string text = fmt::format(
      "<table class=\"accuracies\"><thead><tr><td colspan=\"2\"></td>{}{}</tr><tr><th "
      "scope=\"col\">Model</th><td></td>{}{}</tr></thead>\n",
      names, with.wins ? "<td></td>" : "", heads, with.wins ? number_head("Wins") : "");
  for (const TableGroup& group : rank.table.groups) {
    text += "<tbody>";
    for (const TableRow& row : group.rows) {
      text += "<tr>";
      if (&row == &group.rows.front()) text += model_cell(group);
      text += kind_cell(group.model, row.kind);
      for (const TableEntry& entry : row.entries) text += with.cells(group, entry);
      if (with.wins) text += fmt::format("<td class=\"number wins\">{}</td>", wins(row.wins, group.compared));
      text += "</tr>\n";
    }
    text += "</tbody>\n";
  }
  return scrolled(text + "</table>", rank_heading(rank.rank));
}

std::string pair_cells(const StudyModel& model, RowKind kind) {
  return fmt::format("<th scope=\"row\" class=\"model\">{}</th>{}", html_text(numbered_name(model)),
                     kind_cell(model, kind)) +
         number_cell(rank_number(model));
}

std::string_view pair_heads() {
  return "<th scope=\"col\">Model</th><td></td><th scope=\"col\" class=\"number\">Rank</th>";
}

std::string data_line(const std::string& data, std::size_t columns) {
  return fmt::format(
      "<tbody><tr><th scope=\"rowgroup\" class=\"of-data\" colspan=\"{}\"><span>{}</span></th></tr>\n",
      columns, html_text(data));
}

std::string_view direction_class(const StudyPair& pair) {
  const int found = direction(pair);
  return found == 0 ? "" : found > 0 ? " helps" : " hurts";
}

}  // namespace poise::report
