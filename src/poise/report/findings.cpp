#include "poise/report/findings.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "poise/report/text.hpp"
#include "poise/study/statistics.hpp"

namespace poise::report {

namespace {

std::vector<const StudyPair*> all_deciding_pairs(const StudyResults& results) {
  std::vector<const StudyPair*> pairs;
  for (const StudyPair& pair : results.pairs) {
    if (pair.kind == RowKind::weighted && pair.metric == results.choice && pair.complete)
      pairs.push_back(&pair);
  }
  return pairs;
}

/// Comparisons of rows whose searches are not complete.
std::ptrdiff_t undecided(const StudyResults& results) {
  return std::ranges::count_if(results.pairs, [&](const StudyPair& pair) {
    return pair.kind == RowKind::weighted && pair.metric == results.choice && !pair.complete;
  });
}

std::string count_of(int part, int whole) {
  if (part == whole && whole > 1) return fmt::format("all {}", whole);
  return fmt::format("{} of {}", part, whole);
}

/// "helps in 2 and hurts in none"
std::string after_correction(const std::vector<const StudyPair*>& pairs) {
  std::vector<double> p;
  p.reserve(pairs.size());
  for (const StudyPair* pair : pairs) p.push_back(pair->test.p);
  const std::vector<double> corrected = holm(p);
  int helps = 0;
  int hurts = 0;
  for (std::size_t k = 0; k < pairs.size(); ++k) {
    if (!(corrected[k] < significant)) continue;
    ++(pairs[k]->test.difference > 0 ? helps : hurts);
  }
  return fmt::format("helps in {} and hurts in {}", count_or_none(helps), count_or_none(hurts));
}

bool nothing_beats_popularity(const StudyResults& results) {
  return !results.against_popularity.empty() &&
         std::ranges::none_of(results.against_popularity, [](const RowComparison& row) {
           return row.test.difference > 0 && row.corrected_p < significant;
         });
}

/// "a; b; c; d; and 2 more"
std::string listed(const std::vector<std::string>& names) {
  constexpr std::ptrdiff_t most_names = 4;
  const auto count = std::ssize(names);
  const auto named = std::min(count, most_names);
  return fmt::format("{}{}", fmt::join(names.begin(), names.begin() + named, "; "),
                     count > named ? fmt::format("; and {} more", count - named) : "");
}

/// The searches in this state: "WMF, rank 10", with the data if there are several.
std::vector<std::string> names_of(const StudyResults& results, UnfinishedSearch::State state) {
  std::vector<std::string> names;
  std::set<std::string> data;
  for (const StudyData& part : results.data) data.insert(part.name);
  for (const UnfinishedSearch& search : results.unfinished) data.insert(search.data);
  for (const UnfinishedSearch& search : results.unfinished) {
    if (search.state != state) continue;
    const std::string name = ranked_name(search.model);
    names.push_back(data.size() > 1 ? fmt::format("{} on {}", name, search.data) : name);
  }
  return names;
}

/// How the other rows compare on the test users: " On the test users it does not differ measurably from ..."
std::string told_apart(const StudyResults& results, const std::string& data) {
  std::vector<const RowComparison*> others;
  for (const RowComparison& row : results.against_best) {
    if (row.data == data) others.push_back(&row);
  }
  if (others.empty()) return "";
  std::ranges::stable_sort(others, std::greater{},
                           [](const RowComparison* row) { return row->test.difference; });
  std::vector<std::string> equal;
  std::string text;
  std::ptrdiff_t better = 0;
  for (const RowComparison* row : others) {
    const std::string name = row_name(row->model, row->kind);
    if (!(row->corrected_p < significant)) {
      equal.push_back(name);
    } else if (row->test.difference > 0) {
      ++better;
      text += fmt::format(" On the test users {} is measurably more accurate.", name);
    }
  }
  if (!equal.empty())
    text += fmt::format(" On the test users it does not differ measurably from {}.", listed(equal));
  const auto less = std::ssize(others) - std::ssize(equal) - better;
  if (less > 0)
    text += fmt::format(" {} measurably less accurate.", less == 1 ? "The other row is"
                                                         : less == std::ssize(others)
                                                             ? fmt::format("All {} other rows are", less)
                                                             : fmt::format("The other {} rows are", less));
  return text +
         fmt::format(" (Paired t tests, p < 0.05 after Holm's correction for {}.)",
                     others.size() == 1 ? "one comparison" : fmt::format("{} comparisons", others.size()));
}

/// The result of the comparisons.
std::string study_verdict(const StudyResults& results) {
  if (nothing_beats_popularity(results)) return "No model is measurably better than popularity";
  const Balance counts = balance(all_deciding_pairs(results));
  const int total = counts.total();
  const std::string comparisons = total == 1 ? "comparison" : "comparisons";
  if (total == 0) return "No weighted row to compare with an unweighted one";
  if (counts.helps == 0 && counts.hurts == 0)
    return fmt::format("Weighting makes no measurable difference in {} {}", count_of(total, total),
                       comparisons);
  if (counts.hurts == 0)
    return fmt::format("Weighting helps in {} {}", count_of(counts.helps, total), comparisons);
  if (counts.helps == 0)
    return fmt::format("Weighting hurts in {} {}", count_of(counts.hurts, total), comparisons);
  return fmt::format("Weighting helps in {} of {} comparisons and hurts in {}", counts.helps, total,
                     counts.hurts);
}

}  // namespace

Balance balance(const std::vector<const StudyPair*>& pairs) {
  Balance result;
  for (const StudyPair* pair : pairs) {
    const int found = direction(*pair);
    ++(found > 0 ? result.helps : found < 0 ? result.hurts : result.even);
  }
  return result;
}

Balance balance(const StudyResults& results) { return balance(all_deciding_pairs(results)); }

std::vector<const StudyPair*> deciding_pairs(const StudyResults& results, const std::string& data,
                                             const std::optional<std::int64_t>& rank) {
  std::vector<const StudyPair*> pairs = all_deciding_pairs(results);
  std::erase_if(pairs, [&](const StudyPair* pair) { return pair->data != data || pair->model.rank != rank; });
  return pairs;
}

std::vector<std::optional<std::int64_t>> ranks_of(const StudyResults& results, const std::string& data) {
  std::vector<std::optional<std::int64_t>> ranks;
  for (const StudyRow& row : results.rows) {
    if (row.data == data && !is_baseline(row.model)) ranks.push_back(row.model.rank);
  }
  std::ranges::sort(ranks, [](const auto& a, const auto& b) { return a && (!b || *a < *b); });
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  return ranks;
}

std::string headline(const StudyResults& results) {
  if (without_test(results)) return "What validation chose, with no test users to confirm it";
  if (balance(results).total() == 0 && undecided(results) > 0 && !nothing_beats_popularity(results))
    return "No search is complete, so nothing is said about weighting";
  std::string text = study_verdict(results);
  if (results.complete) return text;
  if (balance(results).total() == 0) return "Not complete: nothing can be said about weighting yet";
  return fmt::format("Not complete: so far {}{}", static_cast<char>(std::tolower(text[0])), text.substr(1));
}

std::string headline_terms(const StudyResults& results) {
  if (without_test(results))
    return "The figures are those of the validation users, who chose the rows: the best of many points is "
           "partly the best by chance, so that no difference is called an effect of weighting.";
  const Balance counts = balance(results);
  const std::ptrdiff_t open = undecided(results);
  const std::string left_out =
      open == 0
          ? ""
          : fmt::format(" {} left out: {} search is not complete, and the difference may come from tuning.",
                        open == 1 ? "One comparison is" : fmt::format("{} comparisons are", open),
                        open == 1 ? "its" : "a");
  if (counts.total() == 0) return left_out.empty() ? "" : left_out.substr(1);
  std::string text = fmt::format(
      "A comparison is the best weighted against the best unweighted model of one kind, rank and data set: "
      "{} on the test users, paired t test, p < 0.05.",
      metric_name(results.choice));
  if (counts.even > 0 && counts.even < counts.total())
    text += fmt::format(" {} no measurable difference.",
                        counts.even == 1 ? "One shows" : fmt::format("{} show", counts.even));
  if (counts.total() > 1 && counts.even < counts.total())
    text += fmt::format(" Some of so many comparisons pass by chance: after Holm's correction weighting {}.",
                        after_correction(all_deciding_pairs(results)));
  return text + left_out;
}

std::string rank_finding(const StudyResults& results, const std::optional<std::int64_t>& rank) {
  std::vector<const StudyPair*> pairs = all_deciding_pairs(results);
  std::erase_if(pairs, [&](const StudyPair* pair) { return pair->model.rank != rank; });
  const Balance counts = balance(pairs);
  const int total = counts.total();
  if (total == 0) return "";
  const std::string what = results.data.size() > 1 ? "comparisons" : total == 1 ? "model" : "models";
  if (counts.even == total)
    return fmt::format("weighting makes no measurable difference to {} {}", count_of(total, total), what);
  if (counts.hurts == 0) return fmt::format("weighting helps {} {}", count_of(counts.helps, total), what);
  if (counts.helps == 0) return fmt::format("weighting hurts {} {}", count_of(counts.hurts, total), what);
  return fmt::format("weighting helps {} of {} {} and hurts {}", counts.helps, total, what, counts.hurts);
}

std::string best_finding(const StudyResults& results, const std::string& data) {
  const StudyRow* const best = best_on_validation(results, data);
  if (best == nullptr || (is_baseline(best->model) && !results.complete)) return "";
  const bool tested = !best->test.empty();
  const Estimate* const figure = find(tested ? best->test : best->validation, results.choice);
  if (figure == nullptr) return "";
  const std::string error =
      figure->standard_error ? fmt::format(" ±{}", accuracy(*figure->standard_error)) : "";
  return fmt::format("Best on validation: {}, with {} {}{} on the {}.{}", row_name(best->model, best->kind),
                     metric_name(results.choice), accuracy(figure->mean), error, users_of(results),
                     told_apart(results, data));
}

std::string unfinished_finding(const StudyResults& results) {
  if (results.complete) return "";
  using State = UnfinishedSearch::State;
  const std::vector<std::string> searching = names_of(results, State::searching);
  const std::vector<std::string> untrained = names_of(results, State::not_trained);
  const std::vector<std::string> not_begun = names_of(results, State::not_begun);
  std::vector<std::string> sentences;
  if (!searching.empty())
    sentences.push_back(fmt::format("Time or points ran out in the search{} of {}.",
                                    searching.size() == 1 ? "" : "es", listed(searching)));
  if (!untrained.empty())
    sentences.push_back(
        fmt::format("What validation chose is not trained to convergence yet for {}.", listed(untrained)));
  if (!not_begun.empty()) sentences.push_back(fmt::format("Not begun: {}.", fmt::join(not_begun, "; ")));
  if (!without_test(results) &&
      std::ranges::any_of(results.rows, [](const StudyRow& row) { return !row.final; }))
    sentences.emplace_back(
        "Rows that are not trained to convergence have the search's figures on the validation users, which "
        "stand in parentheses.");
  sentences.emplace_back("With more time or points the same command continues from its journal.");
  return fmt::format("{}", fmt::join(sentences, " "));
}

std::string validation_note(const StudyData& data) {
  if (data.validation_from_training == 0) return "";
  return fmt::format(
      "There is no validation part: {} of the {} training rows, a tenth of each user's, chose the points. "
      "Test figures are those of models of all training rows, validation figures those of models without the "
      "rows that chose.",
      grouped(data.validation_from_training), grouped(data.train_interactions));
}

std::vector<std::pair<std::string, std::string>> listed_findings(
    const StudyResults& results, const std::function<std::string(const std::string& data)>& best,
    std::string (*escape)(std::string_view)) {
  std::vector<std::pair<std::string, std::string>> list;
  for (const StudyConclusion& conclusion : results.conclusions)
    list.emplace_back(escape(conclusion.data) + (conclusion.overall ? "" : ", " + rank_name(conclusion.rank)),
                      escape(conclusion.sentence));
  for (const StudyData& part : results.data) {
    const std::string name = escape(part.name);
    if (const std::string row = best(part.name); !row.empty()) list.emplace_back(name, escape(row));
    if (const std::string note = validation_note(part); !note.empty()) list.emplace_back(name, note);
  }
  return list;
}

std::string popularity_finding(const StudyResults& results) {
  const auto& rows = results.against_popularity;
  if (rows.empty()) return "";
  const auto better = std::ranges::count_if(rows, [](const RowComparison& row) {
    return row.corrected_p < significant && row.test.difference > 0;
  });
  const std::string count = better == 0 ? "No row beats"
                            : better == std::ssize(rows)
                                ? fmt::format("All {} rows beat", better)
                                : fmt::format("{} of {} rows beat", better, rows.size());
  return fmt::format("{} popularity", count);
}

std::string certificate_finding(const StudyResults& results) {
  std::optional<double> full_rank;  // the largest
  std::optional<double> low_rank;
  int trained = 0;
  int uncertified = 0;
  int open = 0;
  for (const StudyRow& row : results.rows) {
    if (is_baseline(row.model) || !row.final) continue;
    ++trained;
    if (!row.converged) ++open;
    if (std::isfinite(row.certificate.relative)) {
      std::optional<double>& largest = row.model.rank ? low_rank : full_rank;
      largest = std::max(largest.value_or(0), row.certificate.relative);
    } else {
      ++uncertified;
    }
  }
  // The two certificates prove different things, so they are not combined.
  std::vector<std::string> parts;
  if (full_rank)
    parts.push_back(fmt::format("Full-rank objectives lie within {} of the explained weight of their minima",
                                bound(*full_rank)));
  if (low_rank)
    parts.push_back(
        fmt::format("{} gain at most {} of {}",
                    full_rank ? "solving a low-rank factor again would" : "Solving a factor again would",
                    bound(*low_rank), full_rank ? "it" : "the explained weight"));
  if (uncertified > 0)
    parts.push_back(fmt::format("{} of {} rows have no certificate", uncertified, trained));
  if (open > 0) parts.push_back(fmt::format("{} of {} rows did not converge", open, trained));
  return fmt::format("{}", fmt::join(parts, "; "));
}

std::string certificate_terms() {
  return "A certificate is a bound as a part of the explained weight, which is the observed weight less the "
         "objective. At full rank it bounds how far the objective lies above its minimum, all columns "
         "together, and holds with a probability of at least 0.999999999; at low rank it bounds what solving "
         "one factor again, with the other one fixed, could still gain, and does not exclude a better local "
         "minimum.";
}

}  // namespace poise::report
