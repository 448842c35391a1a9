#include "data.hpp"

#include <algorithm>
#include <filesystem>
#include <limits>

#include "poise/base/error.hpp"
#include "poise/data/attach_features.hpp"
#include "poise/data/count_names.hpp"
#include "poise/data/dislikes.hpp"
#include "poise/data/log_reader.hpp"
#include "poise/data/pro_sg.hpp"
#include "poise/data/summary.hpp"
#include "poise/data/synth.hpp"
#include "poise/data/times.hpp"
#include "poise/train/parameter_table.hpp"

#include "arrays.hpp"
#include "parsed_times.hpp"
#include "parts.hpp"
#include "splits.hpp"
#include "work.hpp"

namespace py = pybind11;

namespace poise::python {

void Data::identify(const Execution& execution) const {
  if (identified()) return;
  loaded_->checksum = checksum_of(loaded_->dataset, execution);
}

namespace {

using Paths = std::vector<std::filesystem::path>;

std::vector<std::filesystem::path> paths_of(const std::vector<std::string>& texts) {
  return {texts.begin(), texts.end()};
}

Header header_of(std::optional<bool> header) {
  if (!header) return Header::automatic;
  return *header ? Header::yes : Header::no;
}

std::vector<std::int64_t> parse_times(const std::vector<std::string>& texts, const std::string& unit) {
  std::vector<std::int64_t> times;
  ParsedTimes parsed(unit);
  for (const std::string& text : texts) times.push_back(parsed.parse(text, std::ssize(times)));
  return times;
}

/// A log from Python's arrays; ids are numbered by first appearance.
Interactions log_from(const py::object& users, const py::object& items, const py::object& values,
                      const py::object& times, const std::vector<std::string>& user_ids,
                      const std::vector<std::string>& item_ids, std::int64_t empty_ids,
                      std::optional<double> dislike_below) {
  const auto copy = []<class T>(std::span<const T> elements) {
    return std::vector<T>(elements.begin(), elements.end());
  };
  Interactions log;
  log.users = ids_of(user_ids);
  log.items = ids_of(item_ids);
  log.user = copy(elements_of<std::int32_t>(users));
  log.item = copy(elements_of<std::int32_t>(items));
  if (!values.is_none()) log.value = copy(elements_of<float>(values));
  if (!times.is_none()) log.time = copy(elements_of<std::int64_t>(times));
  log.empty_ids = empty_ids;
  log.reading = "arrays";
  if (log.user.size() != log.item.size() || (!log.value.empty() && log.value.size() != log.user.size()) ||
      (!log.time.empty() && log.time.size() != log.user.size()))
    fail(ErrorKind::input, "users, items, values and times are not equally many");
  if (dislike_below) mark_dislikes(log, *dislike_below);
  return log;
}

/// The user of each entry, row by row.
void append_users(CsrView matrix, Interactions& log) {
  for (std::int64_t u = 0; u < matrix.rows; ++u)
    log.user.insert(log.user.end(), matrix.row_size(u), static_cast<std::int32_t>(u));
}

Interactions dislikes_of(const UserRows& rows, const std::vector<std::string>& users,
                         const std::vector<std::string>& items) {
  Interactions log;
  log.users = ids_of(users);
  log.items = ids_of(items);
  log.item.assign(rows.disliked.indices.begin(), rows.disliked.indices.end());
  append_users(rows.disliked, log);
  return log;
}

/// Data of an unsplit matrix: nothing is filtered, rows and columns keep their order.
Dataset unsplit(const UserRows& rows, const std::vector<std::string>& users,
                const std::vector<std::string>& items) {
  const CsrView matrix = rows.items;
  Dataset dataset;
  dataset.users = ids_of(users);
  dataset.items = ids_of(items);
  dataset.train = {.rows = matrix.rows,
                   .cols = matrix.cols,
                   .offsets = {matrix.offsets.begin(), matrix.offsets.end()},
                   .indices = {matrix.indices.begin(), matrix.indices.end()},
                   .values = {matrix.values.begin(), matrix.values.end()}};
  if (rows.any_disliked()) attach_dislikes(dataset, dislikes_of(rows, users, items), {});
  validate(dataset);
  return dataset;
}

/// A log of the entries of a matrix, row by row, and then of its dislikes.
Interactions log_of(const UserRows& rows, const std::vector<std::string>& users,
                    const std::vector<std::string>& items) {
  const CsrView matrix = rows.items;
  Interactions log;
  log.users = ids_of(users);
  log.items = ids_of(items);
  log.item.assign(matrix.indices.begin(), matrix.indices.end());
  log.value.assign(matrix.values.begin(), matrix.values.end());
  log.user.reserve(log.item.size());
  append_users(matrix, log);
  if (!rows.any_disliked()) return log;
  log.low.assign(log.item.size(), 0);
  log.item.insert(log.item.end(), rows.disliked.indices.begin(), rows.disliked.indices.end());
  if (!log.value.empty()) log.value.resize(log.item.size(), 0);
  append_users(rows.disliked, log);
  log.low.resize(log.item.size(), Interactions::disliked);
  log.disliked_rows = rows.disliked.entries();
  return log;
}

const HeldOut& part_of(const Data& data, const std::string& name) {
  const std::optional<HeldOut>& part = name == "test" ? data.dataset().test : data.dataset().validation;
  if (!part) throw py::key_error(name);
  return *part;
}

void bind_log(py::module_& module) {
  py::class_<Interactions, std::shared_ptr<Interactions>>(module, "Log")
      .def_static("from_arrays", &log_from)
      .def_static("from_csr",
                  [](const UserArrays& arrays, const std::vector<std::string>& users,
                     const std::vector<std::string>& items) { return log_of(rows_of(arrays), users, items); })
      .def_static("read",
                  [](const std::vector<std::string>& inputs, const std::string& format,
                     const std::vector<std::string>& columns, const std::string& delimiter,
                     std::optional<bool> header, std::optional<double> keep_above,
                     std::optional<double> dislike_below, bool skip_bad_lines, bool times,
                     const std::string& time_unit, int threads, const py::object& progress) {
                    LogOptions options{.format = parse_log_format(format),
                                       .columns = columns,
                                       .delimiter = delimiter,
                                       .header = header_of(header),
                                       .skip_bad_lines = skip_bad_lines,
                                       .times = times,
                                       .time_unit = unit_of(time_unit)};
                    return run({threads, progress}, [&](const Execution& execution) {
                      const Paths paths = paths_of(inputs);
                      options.format = resolve_log_format(paths, options);
                      options.keep_above = keep_above;
                      options.dislike_below = dislike_below;
                      options.threshold_of_format = true;
                      return read_log(paths, options, execution);
                    });
                  })
      .def_static("synthesize",
                  [](const std::string& like, double scale, std::uint64_t seed, bool values, int threads) {
                    const SynthOptions options{
                        .shape = parse_synth_shape(like), .scale = scale, .seed = seed, .values = values};
                    return run({threads, py::none()}, [&](const Execution& execution) {
                      return synth_interactions(synthesize(options, execution), seed, execution);
                    });
                  })
      .def_property_readonly("rows", &Interactions::rows)
      .def_property_readonly("has_times", [](const Interactions& log) { return !log.time.empty(); })
      .def_property_readonly("reading",
                             [](const Interactions& log) { return with_names(log.reading, keyword_name); });
}

void bind_making(DataClass& data) {
  data.def_static("read",
                  [](const std::string& folder, int threads, const py::object& progress) {
                    return run({threads, progress}, [&](const Execution& execution) {
                      return Data(read_dataset(folder, execution));
                    });
                  })
      .def_static("read_pro_sg",
                  [](const std::string& folder, int threads, const py::object& progress) {
                    return run({threads, progress}, [&](const Execution& execution) {
                      return Data(read_pro_sg(folder, execution));
                    });
                  })
      .def_static("from_csr", [](const UserArrays& arrays, const std::vector<std::string>& users,
                                 const std::vector<std::string>& items) {
        return Data(unsplit(rows_of(arrays), users, items));
      });
}

void bind_writing(DataClass& data) {
  data.def("write",
           [](const Data& data, const std::string& folder, int threads, const py::object& progress) {
             run_and_wait({threads, progress}, [&](const Execution& execution) {
               write_dataset(folder, data.dataset(), execution);
             });
           })
      .def("write_pro_sg", [](const Data& data, const std::string& folder, bool values, int threads) {
        run_and_wait({threads, py::none()}, [&](const Execution& execution) {
          write_pro_sg(folder, data.dataset(), values, execution);
        });
      });
}

void bind_contents(DataClass& data) {
  data.def_property_readonly("has_values",
                             [](const Data& data) { return !data.dataset().train.values.empty(); })
      .def("checksum",
           [](const Data& data, int threads) {
             if (!data.identified())
               run_and_wait({threads, py::none()},
                            [&](const Execution& execution) { data.identify(execution); });
             return data.loaded()->checksum;
           })
      .def_property_readonly("split",
                             [](const Data& data) { return std::string(to_string(data.dataset().split)); })
      .def_property_readonly("items", [](const Data& data) { return texts_of(data.dataset().items); })
      .def_property_readonly("users", [](const Data& data) { return texts_of(data.dataset().users); })
      .def_property_readonly(
          "train", [](const Data& data) { return shared_csr(data.dataset().train.view(), data.loaded()); })
      .def_property_readonly(
          "counts",
          [](const Data& data) {
            std::map<std::string, std::int64_t> counts;
            const auto put = [&](const CountName& name) {
              counts[name.first] = data.dataset().counts.*name.second;
            };
            std::ranges::for_each(read_counts, put);
            std::ranges::for_each(filter_counts, put);
            if (data.dataset().features.rows.rows > 0) std::ranges::for_each(feature_counts, put);
            if (summarize(data.dataset()).dislikes > 0 || data.dataset().counts.dropped_dislikes > 0)
              std::ranges::for_each(dislike_counts, put);
            if (shares_users(data.dataset().split)) std::ranges::for_each(time_counts, put);
            return counts;
          })
      .def_property_readonly("cuts",
                             [](const Data& data) {
                               std::map<std::string, std::optional<std::string>> texts;
                               const auto put = [&](const char* name, std::optional<std::int64_t> time) {
                                 texts[name] = time ? std::optional(time_text(*time)) : std::nullopt;
                               };
                               if (const auto& cuts = data.dataset().cuts) {
                                 put("validation_from", cuts->validation);
                                 put("test_from", cuts->test);
                                 put("test_to", cuts->end);
                               }
                               return texts;
                             })
      .def("has_part",
           [](const Data& data, const std::string& name) {
             return (name == "test" ? data.dataset().test : data.dataset().validation).has_value();
           })
      .def("part_users",
           [](const Data& data, const std::string& name) { return texts_of(part_of(data, name).users); })
      .def("fold_in",
           [](const Data& data, const std::string& name) {
             return shared_csr(data.dataset().histories(part_of(data, name)).items, data.loaded());
           })
      .def("dislikes",
           [](const Data& data, const std::string& name) -> std::optional<CsrArrays> {
             const UserRows rows = name == "train" ? data.dataset().training_rows()
                                                   : data.dataset().histories(part_of(data, name));
             if (rows.disliked.rows == 0) return {};
             return shared_csr(rows.disliked, data.loaded());
           })
      .def("feature_names", [](const Data& data) { return texts_of(data.dataset().features.names); })
      .def("features",
           [](const Data& data) { return shared_csr(data.dataset().features.rows.view(), data.loaded()); })
      .def("with_item_features",
           [](const Data& data, const std::string& path) {
             Dataset dataset = data.dataset();
             attach_features(dataset, read_item_features(path));
             return Data(std::move(dataset));
           })
      .def("targets", [](const Data& data, const std::string& name) {
        return shared_csr(part_of(data, name).targets.view(), data.loaded());
      });
}

}  // namespace

void bind_data(py::module_& module) {
  bind_log(module);
  module.def("detect_format", [](const std::vector<std::string>& inputs, const std::string& format) {
    LogOptions options{.format = parse_log_format(format)};
    return std::string(log_format_name(resolve_log_format(paths_of(inputs), options)));
  });
  module.def("parse_times", &parse_times);
  DataClass data(module, "Data");
  bind_making(data);
  bind_splits(data);
  bind_writing(data);
  bind_contents(data);
}

}  // namespace poise::python
