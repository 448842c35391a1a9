#include "model.hpp"

#include <cmath>
#include <filesystem>
#include <limits>
#include <optional>

#include <nlohmann/json.hpp>

#include "poise/base/error.hpp"
#include "poise/evaluate/estimates.hpp"
#include "poise/evaluate/evaluate.hpp"
#include "poise/linalg/csr.hpp"
#include "poise/recommend/explain.hpp"
#include "poise/recommend/recommend.hpp"
#include "poise/recommend/similar.hpp"
#include "poise/search/field_json.hpp"

#include "arrays.hpp"
#include "factor_scorer.hpp"
#include "parts.hpp"
#include "train.hpp"
#include "work.hpp"

namespace py = pybind11;

namespace poise::python {
namespace {

/// Up to so many users are served on the calling thread: starting a thread would take longer.
constexpr std::int64_t few_users = 64;

/// Runs a body for `users` users, on the calling thread if they are few.
template <class Body>
auto run_for_users(std::int64_t users, const Calling& calling, Body&& body) {
  if (users <= few_users) return run_here(body);
  return run(calling, body);
}

/// Lists as (items, scores), one row each as wide as the longest; a shorter one ends with -1 and NaN.
py::tuple to_arrays(const RankedLists& lists) {
  std::int64_t width = 0;
  for (std::int64_t row = 0; row < lists.rows(); ++row) width = std::max(width, lists.size(row));
  NewMatrix<std::int32_t> items(lists.rows(), width);
  NewMatrix<float> scores(lists.rows(), width);
  for (std::int64_t row = 0; row < lists.rows(); ++row) {
    std::int32_t* const item = items.data() + row * width;
    float* const score = scores.data() + row * width;
    std::ranges::copy(lists.items(row), item);
    std::ranges::copy(lists.scores(row), score);
    std::fill(item + lists.size(row), item + width, -1);
    std::fill(score + lists.size(row), score + width, std::numeric_limits<float>::quiet_NaN());
  }
  return py::make_tuple(items.array(), scores.array());
}

py::tuple recommend_to(const Model& model, const UserArrays& histories, std::int64_t k, bool exclude_history,
                       const std::vector<std::int32_t>& exclude,
                       std::optional<std::vector<std::int32_t>> only, double diversify,
                       const std::optional<CsrArrays>& excluded_pairs, const py::object& user_factors,
                       const std::string& device, int threads) {
  const UserRows rows = rows_of(histories);
  const RecommendOptions options{.k = k,
                                 .exclude_history = exclude_history,
                                 .seen = excluded_pairs ? view_of(*excluded_pairs) : CsrView{},
                                 .exclude = exclude,
                                 .only = std::move(only),
                                 .diversify = diversify};
  std::optional<FactorScorer> factors;
  if (!user_factors.is_none()) factors.emplace(matrix_of(user_factors), *model.wmf());
  const Scorer& scorer = factors ? static_cast<const Scorer&>(*factors) : *model.scorer;
  return to_arrays(run_for_users(rows.rows(), {threads, py::none()}, [&](const Execution& execution) {
    const auto backend =
        factors ? nullptr
                : scoring_backend_of(
                      device, [&] { return Work{.operations = scorer.operations(rows.items)}; }, execution);
    return recommend(scorer, rows, options, execution, backend.get());
  }));
}

py::tuple similar_to(const Model& model, const std::vector<std::int32_t>& items, std::int64_t k,
                     int threads) {
  const auto count = static_cast<std::int64_t>(items.size());
  return to_arrays(
      run_for_users(count > 1 ? few_users + 1 : 1, {threads, py::none()}, [&](const Execution& execution) {
        std::vector<RankedLists> each(count);
        for_each_tile(count, execution.threads,
                      [&](std::int64_t row) { each[row] = similar(*model.scorer, items[row], k); });
        RankedLists lists(count, count > 0 ? each.front().width() : 0);
        for (std::int64_t row = 0; row < count; ++row) {
          std::ranges::copy(each[row].items(0), lists.item_slots(row).begin());
          std::ranges::copy(each[row].scores(0), lists.score_slots(row).begin());
          lists.resize(row, each[row].size(0));
        }
        return lists;
      }));
}

py::object scores_of(const Model& model, const UserArrays& histories, int threads) {
  const UserRows rows = rows_of(histories);
  NewMatrix<float> scores(rows.rows(), model.scorer->items());
  const auto fill = [&](const Execution& execution) {
    model.scorer->score(rows, scores.view(), execution);
    return 0;
  };
  run_for_users(rows.rows(), {threads, py::none()}, fill);
  return scores.array();
}

py::object factors_of(const Model& model, const UserArrays& histories, int threads) {
  const UserRows rows = rows_of(histories);
  const Wmf& wmf = *model.wmf();
  if (rows.cols() != wmf.items())
    fail(ErrorKind::input, "the histories are over {} items but the model knows {}", rows.cols(),
         wmf.items());
  NewMatrix<float> factors(rows.rows(), wmf.rank());
  float* const out = factors.data();
  const auto fill = [&](const Execution& execution) {
    const Tiling tiling{rows.rows(), few_users};
    for_each_tile(tiling.tiles(), execution.threads, [&](std::int64_t tile) {
      const UserRows some = rows.block(tiling.first(tile), tiling.last(tile) - tiling.first(tile));
      const Csr block = copy_of(some.items);
      const Matrix<float> solved = wmf.fold_in({block.view(), some.disliked});
      std::copy_n(solved.view().data, solved.rows() * solved.cols(), out + tiling.first(tile) * wmf.rank());
    });
    return 0;
  };
  run_for_users(rows.rows(), {threads, py::none()}, fill);
  return factors.array();
}

py::tuple evaluate_on(const Model& model, const UserArrays& fold_in, const CsrArrays& targets,
                      const std::optional<CsrArrays>& train, const std::string& metrics,
                      const std::string& denominator, const std::string& device, int threads,
                      const py::object& progress) {
  if (denominator != "min" && denominator != "targets")
    fail(ErrorKind::usage, "the recall denominator is min or targets, not '{}'", denominator);
  const UserRows histories = rows_of(fold_in);
  const CsrView wanted = view_of(targets);
  const EvaluateOptions options{
      .metrics = parse_metrics(metrics),
      .denominator = denominator == "min" ? RecallDenominator::min : RecallDenominator::targets};
  const CsrView training = train ? view_of(*train) : CsrView{};
  const EvaluationResult result = run({threads, progress}, [&](const Execution& execution) {
    const auto backend = scoring_backend_of(
        device, [&] { return Work{.operations = model.scorer->operations(histories.items)}; }, execution);
    std::vector<std::int64_t> counts;
    if (train) counts = column_counts(training, execution.threads);
    return evaluate(*model.scorer, histories, wanted, {counts, training}, options, execution, backend.get());
  });
  check_findable(result);
  const nlohmann::ordered_json json = {{"users", result.users},
                                       {"users_without_targets", result.users_without_targets},
                                       {"known_targets", result.known_targets},
                                       {"metrics", to_json(estimates_of(result))}};
  std::vector<std::string> names;
  for (const Metric& metric : result.per_user_metrics) names.push_back(to_string(metric));
  NewMatrix<double> per_user(result.per_user.rows(), result.per_user.cols());
  std::copy_n(result.per_user.view().data, result.per_user.rows() * result.per_user.cols(), per_user.data());
  return py::make_tuple(json.dump(), names, owned_array(result.user_rows), per_user.array());
}

/// The elements of a tensor, without a copy.
py::object array_of(const Tensor& tensor, const std::shared_ptr<const void>& owner) {
  const std::vector<py::ssize_t> shape(tensor.shape.begin(), tensor.shape.end());
  const auto shared = [&]<class T>(T /*of this type*/) {
    return shared_array<T>(shape, reinterpret_cast<const T*>(tensor.bytes.data()), owner);
  };
  switch (tensor.type) {
    case ElementType::u8:
      return shared(std::uint8_t{});
    case ElementType::i32:
      return shared(std::int32_t{});
    case ElementType::i64:
      return shared(std::int64_t{});
    case ElementType::u64:
      return shared(std::uint64_t{});
    case ElementType::f32:
      return shared(float{});
    case ElementType::f64:
      break;
  }
  return shared(double{});
}

/// The tensors by their names in a model's file.
py::dict tensors_of(const Model& model) {
  const ModelContent content = content_of(*model.scorer, model.info.model);
  const auto owner = std::make_shared<std::pair<std::shared_ptr<const Scorer>, std::shared_ptr<const void>>>(
      model.scorer, content.owner);
  py::dict tensors;
  for (const Tensor& tensor : content.tensors) tensors[py::str(tensor.name)] = array_of(tensor, owner);
  return tensors;
}

Model from_loaded(LoadedModel loaded) {
  return {.info = std::move(loaded.info), .scorer = std::shared_ptr<const Scorer>(std::move(loaded.scorer))};
}

py::object to_bytes(const Model& model) {
  std::vector<std::byte> bytes =
      run({0, py::none()}, [&](const Execution&) { return model_bytes(model.info, *model.scorer); });
  auto kept = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
  const auto* const data = reinterpret_cast<const std::uint8_t*>(kept->data());
  return shared_array<std::uint8_t>({static_cast<py::ssize_t>(kept->size())}, data, kept);
}

/// The bytes are not copied; the model keeps them alive.
Model from_bytes(const py::object& bytes) {
  const auto elements = std::as_bytes(elements_of<std::uint8_t>(bytes));
  Model model = from_loaded(run({0, py::none()}, [&](const Execution& execution) {
    return decode_model(Container::parse(elements, "the pickled model", execution.threads),
                        execution.threads);
  }));
  model.bytes = bytes;
  return model;
}

}  // namespace

void bind_model(py::module_& module) {
  py::class_<Model, std::shared_ptr<Model>>(module, "Model")
      .def_static("load",
                  [](const std::string& path, int threads) {
                    Model model = from_loaded(run({threads, py::none()}, [&](const Execution& execution) {
                      return read_model(path, execution.threads);
                    }));
                    model.file = std::filesystem::absolute(path);
                    return model;
                  })
      .def("save",
           [](const Model& model, const std::string& path) {
             run_and_wait({1, py::none()},
                          [&](const Execution& execution) { save_model(model, path, execution.threads); });
           })
      .def("to_bytes", &to_bytes)
      .def_static("from_bytes", &from_bytes)
      .def("recommend", &recommend_to)
      .def("similar", &similar_to)
      .def("scores", &scores_of)
      .def("factors", &factors_of)
      .def("evaluate", &evaluate_on)
      .def_static("needs_training",
                  [](const std::string& metrics) {
                    return training_need(parse_metrics(metrics)) != TrainingNeed::nothing;
                  })
      .def("explain",
           [](const Model& model, const py::object& history, const py::object& values,
              const py::object& dislikes, double dislike_share, std::int32_t item) {
             const auto items = elements_of<std::int32_t>(history);
             std::span<const float> r;
             if (!values.is_none()) r = elements_of<float>(values);
             std::span<const std::int32_t> disliked;
             if (!dislikes.is_none()) disliked = elements_of<std::int32_t>(dislikes);
             const auto found = run_here([&](const Execution&) {
               return explain(*model.scorer, items, r, item, disliked, dislike_share);
             });
             std::vector<std::pair<std::int32_t, double>> parts;
             std::vector<std::vector<std::string>> shared;
             const NamedFeatures& features = model.info.features;
             for (const Contribution& each : found) {
               parts.emplace_back(each.item, each.contribution);
               if (features.of_items.rows == 0) continue;
               const auto names = features.shared(item, each.item);
               shared.emplace_back(names.begin(), names.end());
             }
             return std::pair(std::move(parts), std::move(shared));
           })
      .def("tensors", &tensors_of)
      .def_property_readonly("items", [](const Model& model) { return model.scorer->items(); })
      .def_property_readonly("item_ids", [](const Model& model) { return texts_of(model.info.items); })
      .def_property_readonly("kind", [](const Model& model) { return model.info.model; })
      .def_property_readonly("options", [](const Model& model) { return model.info.options; })
      .def_property_readonly("report", [](const Model& model) { return model.info.report; })
      .def_property(
          "data_checksum", [](const Model& model) { return model.info.data_checksum; },
          [](Model& model, std::string checksum) { model.info.data_checksum = std::move(checksum); })
      .def_property_readonly("seconds", [](const Model& model) { return model.seconds; })
      .def_property_readonly("trace", [](const Model& model) {
        py::list rounds;
        for (const LowRankRound& round : model.trace)
          rounds.append(py::dict(py::arg("round") = round.round, py::arg("objective") = round.objective,
                                 py::arg("iterations") = round.iterations,
                                 py::arg("seconds") = round.seconds));
        return rounds;
      });
}

}  // namespace poise::python
