// A small project that finds the installed library and trains a model with it.
#include <cstdio>

#include <poise/evaluate/evaluate.hpp>
#include <poise/model/popularity.hpp>

int main() {
  const poise::Csr X{.rows = 2, .cols = 3, .offsets = {0, 2, 3}, .indices = {0, 1, 1}, .values = {}};
  const poise::Csr history{.rows = 1, .cols = 3, .offsets = {0, 1}, .indices = {0}, .values = {}};
  const poise::Csr target{.rows = 1, .cols = 3, .offsets = {0, 1}, .indices = {1}, .values = {}};
  const poise::EvaluationResult result =
      poise::evaluate(poise::Popularity::train(X.view()), history.view(), target.view(), {},
                      {.metrics = {{poise::MetricKind::recall, 1}}}, {});
  std::printf("recall@1 = %g\n", result.metrics.front().mean);
  return result.metrics.front().mean == 1.0 ? 0 : 1;
}
