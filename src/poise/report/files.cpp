#include <nlohmann/json.hpp>

#include "poise/report/latex.hpp"
#include "poise/report/markdown.hpp"
#include "poise/report/report.hpp"

namespace poise {

std::map<std::string, std::string> study_files(const StudyResults& results) {
  return {{"tables.md", study_markdown(results)},
          {"tables.tex", study_latex(results)},
          {"results.csv", to_csv(results)},
          {"results.json", to_json(results).dump(1) + "\n"},
          {"report.html", study_html(results)}};
}

std::map<std::string, std::string> splits_files(const SplitsResults& results) {
  return {{"tables.md", splits_markdown(results)},
          {"tables.tex", splits_latex(results)},
          {"results.csv", to_csv(results)},
          {"results.json", to_json(results).dump(1) + "\n"},
          {"report.html", splits_html(results)}};
}

}  // namespace poise
