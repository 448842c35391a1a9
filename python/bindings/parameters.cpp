#include <fmt/format.h>
#include <pybind11/stl.h>

#include "poise/base/error.hpp"
#include "poise/train/parameter_table.hpp"

#include "parts.hpp"
#include "train.hpp"

namespace py = pybind11;

namespace poise::python {
namespace {

/// A value as text that set_value() reads: Python writes numbers so that they read back to the same.
std::string text_of(const py::handle& value) {
  if (py::isinstance<py::bool_>(value)) return py::cast<bool>(value) ? "true" : "false";
  return py::cast<std::string>(py::str(value));
}

py::object usual_value(const ModelParameter& parameter) {
  ModelParameters usual;
  return std::visit(
      [&]<class Place>(const Place& place) -> py::object {
        if constexpr (std::is_same_v<Place, ChoicePlace>) {
          return py::cast(parameter.is.names[place.get()]);
        } else {
          return py::cast(*place);
        }
      },
      parameter.in(usual));
}

/// The help text of the parameter for each family that reads it.
std::map<std::string, std::string> helps_of(const ModelParameter& parameter) {
  std::map<std::string, std::string> helps;
  for (const auto& family : families()) {
    if (const FamilyParameter* const use = family->find(parameter.is.id))
      helps[family->name] =
          with_names(use->help.empty() ? parameter.is.help : std::string(use->help), keyword_name);
  }
  return helps;
}

py::list parameters() {
  py::list list;
  for (const ModelParameter& each : parameter_table()) {
    const char* const axis = each.is.axis == SearchAxis::free     ? "free"
                             : each.is.axis == SearchAxis::listed ? "listed"
                                                                  : "none";
    list.append(py::make_tuple(each.is.id, each.is.python_keyword(), usual_value(each), axis, each.is.names,
                               helps_of(each)));
  }
  return list;
}

/// By name: the weight of an entry, and whether its value is read: "no", "if any" or "always".
py::dict weightings() {
  py::dict all;
  for (const SchemeTraits& each : schemes()) {
    const char* const values = each.values == ReadsValues::no       ? "no"
                               : each.values == ReadsValues::if_any ? "if any"
                                                                    : "always";
    all[py::str(each.name)] = py::make_tuple(each.formula, values);
  }
  return all;
}

std::vector<std::string> family_names() {
  std::vector<std::string> names;
  for (const auto& family : families()) names.push_back(family->name);
  return names;
}

}  // namespace

ModelParameters parameters_of(const py::dict& values) {
  ModelParameters parameters;
  for (const auto& [id, value] : values) {
    if (py::cast<std::string>(id) == "model")
      parameters.family = parse_family(text_of(value));
    else
      set_value(parameters, py::cast<std::string>(id), text_of(value));
  }
  validate(parameters);
  return parameters;
}

std::vector<std::string> texts_of_values(const py::handle& values) {
  std::vector<std::string> texts;
  for (const py::handle& value : values) texts.push_back(text_of(value));
  return texts;
}

void bind_parameters(py::module_& module) {
  module.def("parameters", &parameters);
  module.def("weightings", &weightings);
  module.def("families", &family_names);
  module.def("check_parameters", [](const py::dict& values) { parameters_of(values); });
}

}  // namespace poise::python
