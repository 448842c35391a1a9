#include "poise/study/paper_figures.hpp"

#include <algorithm>
#include <array>

namespace poise {

namespace {

constexpr auto weighted = RowKind::weighted;
constexpr auto unweighted = RowKind::unweighted;
constexpr std::nullopt_t full_rank = std::nullopt;

// clang-format off
constexpr std::array<PaperFigure, 78> figures = {{
    {1, "awmf/weight-decay", 1000, weighted, "ml-20m", .344, .476, .378, 2, 7},
    {1, "awmf/weight-decay", 1000, weighted, "netflix", .311, .395, .345, 5, 7},
    {1, "awmf/weight-decay", 1000, weighted, "msd", .228, .314, .277, 10, 7},
    {1, "awmf/weight-decay", 1000, unweighted, "ml-20m", .348, .466, .381, 1, 2},
    {1, "awmf/weight-decay", 1000, unweighted, "netflix", .302, .376, .334, 1, 2},
    {1, "awmf/weight-decay", 1000, unweighted, "msd", .189, .251, .230, 1, 2},
    {2, "wmf", 1000, weighted, "ml-20m", .377, .512, .409, 3, 6},
    {2, "wmf", 1000, weighted, "netflix", .292, .376, .329, 2, 6},
    {2, "wmf", 1000, weighted, "msd", .268, .371, .322, 21, 6},
    {2, "wmf", 1000, unweighted, "ml-20m", .328, .443, .360, 1, 3},
    {2, "wmf", 1000, unweighted, "netflix", .318, .406, .352, 1, 3},
    {2, "wmf", 1000, unweighted, "msd", .189, .251, .231, 1, 3},
    {3, "awmf/dropout", 1000, weighted, "ml-20m", .355, .491, .388, 2, 4},
    {3, "awmf/dropout", 1000, weighted, "netflix", .337, .419, .370, 2, 4},
    {3, "awmf/dropout", 1000, weighted, "msd", .227, .311, .277, 10, 4},
    {3, "awmf/dropout", 1000, unweighted, "ml-20m", .378, .511, .407, 1, 5},
    {3, "awmf/dropout", 1000, unweighted, "netflix", .337, .417, .369, 1, 5},
    {3, "awmf/dropout", 1000, unweighted, "msd", .216, .296, .266, 1, 5},
    {4, "awmf/data-weight-decay", 1000, weighted, "ml-20m", .356, .491, .383, 2, 6},
    {4, "awmf/data-weight-decay", 1000, weighted, "netflix", .263, .355, .303, 2, 6},
    {4, "awmf/data-weight-decay", 1000, weighted, "msd", .231, .322, .283, 10, 6},
    {4, "awmf/data-weight-decay", 1000, unweighted, "ml-20m", .326, .441, .358, 1, 3},
    {4, "awmf/data-weight-decay", 1000, unweighted, "netflix", .314, .401, .348, 1, 3},
    {4, "awmf/data-weight-decay", 1000, unweighted, "msd", .190, .251, .231, 1, 3},
    {5, "full-rank", full_rank, weighted, "ml-20m", .360, .499, .389, 2, 3},
    {5, "full-rank", full_rank, weighted, "netflix", .338, .421, .370, 2, 3},
    {5, "full-rank", full_rank, weighted, "msd", .277, .377, .338, 2, 3},
    {5, "full-rank", full_rank, unweighted, "ml-20m", .376, .511, .407, 1, 6},
    {5, "full-rank", full_rank, unweighted, "netflix", .335, .417, .368, 1, 6},
    {5, "full-rank", full_rank, unweighted, "msd", .284, .384, .344, 1, 6},
    {1, "awmf/weight-decay", 100, weighted, "ml-20m", .339, .472, .374, 2, 7},
    {1, "awmf/weight-decay", 100, weighted, "netflix", .309, .392, .343, 5, 7},
    {1, "awmf/weight-decay", 100, weighted, "msd", .167, .241, .210, 10, 7},
    {1, "awmf/weight-decay", 100, unweighted, "ml-20m", .348, .466, .381, 1, 2},
    {1, "awmf/weight-decay", 100, unweighted, "netflix", .302, .376, .334, 1, 2},
    {1, "awmf/weight-decay", 100, unweighted, "msd", .129, .182, .163, 1, 2},
    {2, "wmf", 100, weighted, "ml-20m", .364, .497, .399, 6, 9},
    {2, "wmf", 100, weighted, "netflix", .316, .396, .348, 3, 9},
    {2, "wmf", 100, weighted, "msd", .178, .265, .223, 21, 9},
    {2, "wmf", 100, unweighted, "ml-20m", .319, .434, .350, 1, 0},
    {2, "wmf", 100, unweighted, "netflix", .312, .388, .344, 1, 0},
    {2, "wmf", 100, unweighted, "msd", .126, .179, .160, 1, 0},
    {3, "awmf/dropout", 100, weighted, "ml-20m", .320, .454, .361, 2, 4},
    {3, "awmf/dropout", 100, weighted, "netflix", .316, .396, .348, 2, 4},
    {3, "awmf/dropout", 100, weighted, "msd", .167, .239, .208, 10, 4},
    {3, "awmf/dropout", 100, unweighted, "ml-20m", .336, .466, .368, 1, 4},
    {3, "awmf/dropout", 100, unweighted, "netflix", .318, .395, .348, 1, 4},
    {3, "awmf/dropout", 100, unweighted, "msd", .132, .186, .167, 1, 4},
    {4, "awmf/data-weight-decay", 100, weighted, "ml-20m", .344, .475, .374, 2, 6},
    {4, "awmf/data-weight-decay", 100, weighted, "netflix", .304, .384, .338, 2, 6},
    {4, "awmf/data-weight-decay", 100, weighted, "msd", .171, .247, .213, 20, 6},
    {4, "awmf/data-weight-decay", 100, unweighted, "ml-20m", .315, .430, .346, 1, 3},
    {4, "awmf/data-weight-decay", 100, unweighted, "netflix", .312, .388, .343, 1, 3},
    {4, "awmf/data-weight-decay", 100, unweighted, "msd", .128, .180, .161, 1, 3},
    {1, "awmf/weight-decay", 10, weighted, "ml-20m", .305, .426, .338, 5, 9},
    {1, "awmf/weight-decay", 10, weighted, "netflix", .259, .339, .293, 2, 9},
    {1, "awmf/weight-decay", 10, weighted, "msd", .086, .134, .114, 20, 9},
    {1, "awmf/weight-decay", 10, unweighted, "ml-20m", .297, .415, .332, 1, 0},
    {1, "awmf/weight-decay", 10, unweighted, "netflix", .258, .335, .290, 1, 0},
    {1, "awmf/weight-decay", 10, unweighted, "msd", .074, .111, .099, 1, 0},
    {2, "wmf", 10, weighted, "ml-20m", .305, .427, .339, 3, 8},
    {2, "wmf", 10, weighted, "netflix", .258, .340, .293, 3, 8},
    {2, "wmf", 10, weighted, "msd", .082, .130, .111, 21, 8},
    {2, "wmf", 10, unweighted, "ml-20m", .289, .401, .322, 1, 1},
    {2, "wmf", 10, unweighted, "netflix", .259, .337, .292, 1, 1},
    {2, "wmf", 10, unweighted, "msd", .074, .110, .099, 1, 1},
    {3, "awmf/dropout", 10, weighted, "ml-20m", .303, .425, .336, 5, 9},
    {3, "awmf/dropout", 10, weighted, "netflix", .260, .340, .293, 2, 9},
    {3, "awmf/dropout", 10, weighted, "msd", .085, .129, .111, 10, 9},
    {3, "awmf/dropout", 10, unweighted, "ml-20m", .298, .415, .331, 1, 0},
    {3, "awmf/dropout", 10, unweighted, "netflix", .258, .334, .290, 1, 0},
    {3, "awmf/dropout", 10, unweighted, "msd", .075, .110, .098, 1, 0},
    {4, "awmf/data-weight-decay", 10, weighted, "ml-20m", .293, .412, .324, 2, 8},
    {4, "awmf/data-weight-decay", 10, weighted, "netflix", .260, .339, .294, 2, 8},
    {4, "awmf/data-weight-decay", 10, weighted, "msd", .083, .129, .110, 20, 8},
    {4, "awmf/data-weight-decay", 10, unweighted, "ml-20m", .290, .407, .321, 1, 0},
    {4, "awmf/data-weight-decay", 10, unweighted, "netflix", .260, .338, .293, 1, 0},
    {4, "awmf/data-weight-decay", 10, unweighted, "msd", .074, .110, .098, 1, 0},
}};
// clang-format on

}  // namespace

std::optional<double> PaperFigure::value(std::string_view metric) const {
  if (metric == "recall@20") return recall_20;
  if (metric == "recall@50") return recall_50;
  if (metric == "ndcg@100") return ndcg_100;
  return {};
}

std::span<const PaperFigure> paper_figures() { return figures; }

const PaperFigure* paper_figure(const StudyModel& model, RowKind kind, std::string_view data) {
  if (model.zero_diagonal || model.neighbours > 0) return nullptr;
  const auto found = std::ranges::find_if(figures, [&](const PaperFigure& figure) {
    return figure.model == model.key && figure.rank == model.rank && figure.kind == kind &&
           figure.data == data;
  });
  return found == figures.end() ? nullptr : &*found;
}

}  // namespace poise
