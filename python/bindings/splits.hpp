#pragma once

#include <memory>
#include <string>

#include <pybind11/pybind11.h>

#include "poise/data/log_reader.hpp"

#include "data.hpp"

namespace poise::python {

using DataClass = pybind11::class_<Data, std::shared_ptr<Data>>;

/// The ways to split a log.
void bind_splits(DataClass& data);

/// What numbers in a column of times count: "auto", "s", "ms", "us" or "ns".
TimeUnit unit_of(const std::string& name);

}  // namespace poise::python
