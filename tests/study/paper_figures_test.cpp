#include "poise/study/paper_figures.hpp"

#include <set>
#include <tuple>

#include <gtest/gtest.h>

namespace poise {
namespace {

TEST(PaperFigures, AreThirteenPairsOnThreeDataSets) {
  std::set<std::tuple<std::string_view, std::int64_t, RowKind, std::string_view>> places;
  for (const PaperFigure& figure : paper_figures()) {
    places.emplace(figure.model, figure.rank.value_or(0), figure.kind, figure.data);
    EXPECT_LT(figure.recall_20, figure.recall_50);
    EXPECT_EQ(figure.alpha == 1, figure.kind == RowKind::unweighted);
  }
  EXPECT_EQ(places.size(), 78U);
}

TEST(PaperFigures, AreFoundByModelRankKindAndData) {
  const StudyModel full{.key = "full-rank", .zero_diagonal = false, .rank = {}};
  const PaperFigure* figure = paper_figure(full, RowKind::weighted, "netflix");
  ASSERT_NE(figure, nullptr);
  EXPECT_EQ(figure->row, 5);
  EXPECT_EQ(figure->value("recall@20"), 0.338);
  EXPECT_EQ(figure->value("recall@50"), 0.421);
  EXPECT_EQ(figure->value("ndcg@100"), 0.370);
  EXPECT_EQ(figure->value("ndcg@10"), std::nullopt);
  EXPECT_EQ(figure->alpha, 2);
}

TEST(PaperFigures, HaveNoZeroDiagonalOtherRankOrOtherData) {
  const StudyModel full{.key = "full-rank", .zero_diagonal = true, .rank = {}};
  EXPECT_EQ(paper_figure(full, RowKind::weighted, "netflix"), nullptr);
  const StudyModel wmf{.key = "wmf", .zero_diagonal = false, .rank = 64};
  EXPECT_EQ(paper_figure(wmf, RowKind::weighted, "msd"), nullptr);
  const StudyModel known{.key = "wmf", .zero_diagonal = false, .rank = 100};
  EXPECT_EQ(paper_figure(known, RowKind::down_weighted, "msd"), nullptr);
  EXPECT_EQ(paper_figure(known, RowKind::weighted, "gowalla"), nullptr);
  EXPECT_NE(paper_figure(known, RowKind::weighted, "msd"), nullptr);
}

}  // namespace
}  // namespace poise
