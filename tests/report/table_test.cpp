#include "poise/report/table.hpp"

#include <gtest/gtest.h>

#include "poise/report/text.hpp"

#include "support/sample_study.hpp"

namespace poise::report {
namespace {

int printed_wins(const StudyModel& model, RowKind kind) { return paper_figure(model, kind, "msd")->wins; }

// Rows of one model on one data set, with one metric; in the order of `means`: unweighted, weighted,
// down-weighted.
StudyResults one_model(std::vector<double> means) {
  StudyResults results;
  results.metrics = {"ndcg@100"};
  results.choice = "ndcg@100";
  results.data.push_back({.name = "data", .checksum = "", .paper_data = ""});
  for (std::size_t kind = 0; kind < means.size(); ++kind) {
    StudyRow row;
    row.data = "data";
    row.model.key = "full-rank";
    row.kind = static_cast<RowKind>(kind);
    row.test = {{"ndcg@100", {.mean = means[kind], .standard_error = {}}}};
    results.rows.push_back(row);
  }
  return results;
}

TEST(PaperTable, ReproducesThePaperWinsButOne) {
  const StudyResults results = test::paper_study();
  const std::vector<RankTable> tables = tables_by_rank(results);
  ASSERT_EQ(tables.size(), 4U);
  EXPECT_EQ(tables[0].rank, std::nullopt);
  EXPECT_EQ(tables[1].rank, 1000);
  EXPECT_EQ(tables[3].rank, 10);
  int pairs = 0;
  for (const RankTable& table : tables) {
    for (const TableGroup& group : table.table.groups) {
      ++pairs;
      ASSERT_EQ(group.rows.size(), 2U);
      EXPECT_EQ(group.compared, 9);
      const TableRow& weighted = group.rows[0];
      const TableRow& unweighted = group.rows[1];
      EXPECT_EQ(weighted.kind, RowKind::weighted);
      if (group.model.key == "awmf/dropout" && group.model.rank == 1000) {
        EXPECT_EQ(weighted.wins, 5);
        EXPECT_EQ(unweighted.wins, 3);
        EXPECT_EQ(printed_wins(group.model, RowKind::weighted), 4);
        EXPECT_EQ(printed_wins(group.model, RowKind::unweighted), 5);
      } else {
        EXPECT_EQ(weighted.wins, printed_wins(group.model, RowKind::weighted)) << group.model.key;
        EXPECT_EQ(unweighted.wins, printed_wins(group.model, RowKind::unweighted)) << group.model.key;
      }
    }
  }
  EXPECT_EQ(pairs, 13);
}

TEST(PaperTable, OrdersModelsAsThePaperDoes) {
  const StudyResults results = test::sample_study();
  std::vector<std::string> names;
  const StudyTable table = tables_by_data(results)[0];
  for (const TableGroup& group : table.groups)
    names.push_back(rank_number(group.model) + " " + model_name(group.model));
  const std::vector<std::string> expected = {"full Full rank",
                                             "full Full rank, zero diagonal",
                                             "full EDLAE (full rank, dropout)",
                                             "100 AWMF, weight decay",
                                             "100 WMF",
                                             "100 AWMF, dropout",
                                             "100 AWMF, data/weight decay",
                                             "10 AWMF, weight decay",
                                             "10 WMF",
                                             "10 AWMF, dropout",
                                             "10 AWMF, data/weight decay",
                                             " Popularity"};
  EXPECT_EQ(names, expected);
}

TEST(PaperTable, BoldIsWhatIsSeenToBeBetter) {
  // Equal in three decimals: a tie, whatever comes after.
  const StudyResults tied = one_model({0.36149, 0.36051});
  const TableGroup tie = tables_by_data(tied)[0].groups[0];
  EXPECT_EQ(tie.compared, 1);
  for (const TableRow& row : tie.rows) {
    EXPECT_EQ(row.wins, 0);
    EXPECT_FALSE(row.entries[0].cells[0].best);
  }
  // Closer than that, but on two sides of a rounding: one reads 0.361, the other 0.360.
  const StudyResults apart = one_model({0.36049, 0.36051});
  const TableGroup win = tables_by_data(apart)[0].groups[0];
  EXPECT_TRUE(win.rows[0].entries[0].cells[0].best);
  EXPECT_EQ(win.rows[0].wins, 1);
  EXPECT_EQ(win.rows[1].wins, 0);
}

TEST(PaperTable, TheBestOfThreeRowsIsBold) {
  const StudyResults results = one_model({0.3, 0.2, 0.4});
  const TableGroup group = tables_by_data(results)[0].groups[0];
  ASSERT_EQ(group.rows.size(), 3U);
  EXPECT_EQ(group.rows[2].kind, RowKind::down_weighted);
  EXPECT_EQ(group.rows[2].wins, 1);
  EXPECT_EQ(group.rows[0].wins + group.rows[1].wins, 0);
  // Two tie above the third: nobody wins.
  const StudyResults tied = one_model({0.4, 0.2, 0.4});
  const TableGroup tie = tables_by_data(tied)[0].groups[0];
  for (const TableRow& row : tie.rows) EXPECT_EQ(row.wins, 0);
}

TEST(PaperTable, ALoneRowWinsNothing) {
  const StudyResults results = one_model({0.3});
  const TableGroup group = tables_by_data(results)[0].groups[0];
  EXPECT_EQ(group.compared, 0);
  EXPECT_EQ(group.rows[0].wins, 0);
  EXPECT_FALSE(group.rows[0].entries[0].cells[0].best);
}

TEST(PaperTable, PutsThePaperBesideTheDataItNames) {
  const StudyResults results = test::sample_study();
  const std::vector<RankTable> tables = tables_by_rank(results);
  for (const RankTable& table : tables) {
    for (const TableGroup& group : table.table.groups) {
      const bool in_paper = !group.model.zero_diagonal && group.model.key != "popularity";
      for (const TableRow& row : group.rows) {
        EXPECT_EQ(row.entries[0].paper, nullptr);
        EXPECT_EQ(row.entries[1].paper != nullptr, in_paper && row.kind != RowKind::down_weighted);
      }
    }
  }
  const TableGroup& full = tables[0].table.groups[0];
  EXPECT_EQ(full.rows[1].entries[1].cells[2].paper, 0.407);
}

}  // namespace
}  // namespace poise::report
