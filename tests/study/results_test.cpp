#include "poise/study/results.hpp"

#include <limits>
#include <sstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "support/sample_study.hpp"

namespace poise {
namespace {

using Json = nlohmann::ordered_json;

// A csv text as its fields; quotes may hold commas, quotes and line ends.
std::vector<std::vector<std::string>> parse_csv(const std::string& text) {
  std::vector<std::vector<std::string>> lines(1, std::vector<std::string>(1));
  bool quoted = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '"' && quoted && at + 1 < text.size() && text[at + 1] == '"') {
      lines.back().back() += '"';
      ++at;
    } else if (c == '"') {
      quoted = !quoted;
    } else if (c == ',' && !quoted) {
      lines.back().emplace_back();
    } else if (c == '\n' && !quoted) {
      lines.emplace_back(1);
    } else {
      lines.back().back() += c;
    }
  }
  lines.pop_back();
  return lines;
}

TEST(StudyJson, HoldsEveryRowPairAndPoint) {
  const StudyResults results = test::sample_study();
  const Json json = Json::parse(to_json(results).dump());
  ASSERT_EQ(json["rows"].size(), results.rows.size());
  ASSERT_EQ(json["pairs"].size(), results.pairs.size());
  ASSERT_EQ(json["points"].size(), results.points.size());
  ASSERT_EQ(json["against_popularity"].size(), results.against_popularity.size());
  EXPECT_EQ(json["conclusions"].size(), 6U);
  EXPECT_EQ(json["choice"], "ndcg@100");
  EXPECT_EQ(json["metrics"], Json::parse(R"(["recall@20","recall@50","ndcg@100"])"));
  EXPECT_EQ(json["options"]["--grid"], "extended");
  EXPECT_EQ(json["data"][0]["name"], results.data[0].name);
  EXPECT_TRUE(json["data"][0]["paper_data"].is_null());
  EXPECT_EQ(json["data"][1]["paper_data"], "ml-20m");

  const StudyRow& row = results.rows[2];  // weighted, rank 10
  const Json& written = json["rows"][2];
  EXPECT_EQ(written["model"], "awmf/weight-decay");
  EXPECT_EQ(written["regularizer"], "weight-decay");
  EXPECT_EQ(written["rank"], 10);
  EXPECT_EQ(written["kind"], "weighted");
  EXPECT_EQ(written["weighted"], true);
  EXPECT_EQ(written["alpha"], row.alpha);
  EXPECT_EQ(written["lambda"], row.lambda);
  EXPECT_EQ(written["test"]["ndcg@100"]["mean"], row.test[2].second.mean);
  EXPECT_EQ(written["test"]["ndcg@100"]["stderr"], *row.test[2].second.standard_error);
  EXPECT_EQ(written["certificate"]["relative"], row.certificate.relative);
  EXPECT_FALSE(written["certificate"].contains("worst_column"));
  EXPECT_EQ(written["convergence"].size(), row.convergence.size());
  EXPECT_EQ(written["by_popularity"][1]["targets"], row.by_popularity[1].targets);

  const StudyPair& pair = results.pairs[2];
  EXPECT_EQ(json["pairs"][2]["metric"], pair.metric);
  EXPECT_EQ(json["pairs"][2]["interval"], Json::array({pair.test.low, pair.test.high}));
  EXPECT_EQ(json["pairs"][2]["p"], pair.test.p);
}

TEST(StudyJson, SaysNothingOfAPopularityRowThatItDoesNotHave) {
  const Json json = to_json(test::sample_study());
  const Json& row = json["rows"][0];
  EXPECT_EQ(row["model"], "popularity");
  for (const char* key : {"rank", "regularizer", "alpha", "lambda", "objective", "certificate"})
    EXPECT_TRUE(row[key].is_null()) << key;
}

TEST(StudyJson, HasTheWorstColumnOfFullRankOnly) {
  const StudyResults results = test::sample_study();
  const Json json = to_json(results);
  for (std::size_t row = 0; row < results.rows.size(); ++row) {
    if (results.rows[row].model.key == "popularity") continue;
    EXPECT_EQ(json["rows"][row]["certificate"].contains("worst_column"), !results.rows[row].model.rank);
  }
}

TEST(StudyJson, WritesNullForWhatIsNotFinite) {
  StudyResults results = test::sample_study();
  results.rows[1].objective = std::numeric_limits<double>::quiet_NaN();
  results.pairs[0].test.high = std::numeric_limits<double>::infinity();
  results.rows[1].test[0].second.standard_error.reset();
  const Json json = Json::parse(to_json(results).dump());
  EXPECT_TRUE(json["rows"][1]["objective"].is_null());
  EXPECT_TRUE(json["pairs"][0]["interval"][1].is_null());
  EXPECT_TRUE(json["rows"][1]["test"]["recall@20"]["stderr"].is_null());
}

TEST(StudyJson, MendsTextThatIsNotUtf8) {
  StudyResults results;
  results.data.push_back({.name = "caf\xE9", .checksum = "", .paper_data = ""});
  EXPECT_EQ(to_json(results)["data"][0]["name"], "caf\xEF\xBF\xBD");
}

TEST(StudyCsv, ReadsBackToTheSameNumbers) {
  const StudyResults results = test::sample_study();
  const auto lines = parse_csv(to_csv(results));
  ASSERT_EQ(lines.size(), 1 + results.rows.size() * results.metrics.size());
  std::map<std::string, std::size_t> column;
  for (std::size_t at = 0; at < lines[0].size(); ++at) column[lines[0][at]] = at;
  std::size_t line = 1;
  for (const StudyRow& row : results.rows) {
    for (const std::string& metric : results.metrics) {
      const auto& fields = lines[line++];
      ASSERT_EQ(fields.size(), lines[0].size());
      EXPECT_EQ(fields[column["data"]], row.data);
      EXPECT_EQ(fields[column["metric"]], metric);
      EXPECT_EQ(fields[column["kind"]], to_string(row.kind));
      EXPECT_EQ(std::stod(fields[column["test_mean"]]), find(row.test, metric)->mean);
      EXPECT_EQ(std::stod(fields[column["test_stderr"]]), *find(row.test, metric)->standard_error);
      EXPECT_EQ(std::stod(fields[column["validation_mean"]]), find(row.validation, metric)->mean);
      if (row.model.key == "popularity") {
        EXPECT_EQ(fields[column["alpha"]] + fields[column["objective"]] + fields[column["rank"]], "");
        continue;
      }
      EXPECT_EQ(fields[column["rank"]], row.model.rank ? std::to_string(*row.model.rank) : "full");
      EXPECT_EQ(std::stod(fields[column["lambda"]]), row.lambda);
      EXPECT_EQ(std::stod(fields[column["alpha"]]), row.alpha);
      EXPECT_EQ(std::stod(fields[column["objective"]]), row.objective);
      EXPECT_EQ(std::stod(fields[column["certificate_relative"]]), row.certificate.relative);
      EXPECT_EQ(fields[column["certificate_worst_column"]].empty(), row.model.rank.has_value());
      EXPECT_EQ(fields[column["converged"]], row.converged ? "true" : "false");
    }
  }
}

TEST(StudyCsv, DoesNotDependOnTimes) {
  StudyResults results = test::sample_study();
  const std::string before = to_csv(results);
  for (StudyRow& row : results.rows) row.seconds *= 2;
  results.seconds *= 2;
  EXPECT_EQ(to_csv(results), before);
}

}  // namespace
}  // namespace poise
