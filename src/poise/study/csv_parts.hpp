#pragma once

#include <string>

#include "poise/study/results.hpp"

/// What a study's results.csv and that of several splits have in common.
namespace poise {

/// As short as reads back to the same; "" for what is not finite.
std::string csv_number(double value);
std::string csv_number(const std::optional<double>& value);

/// "mean,error"
std::string csv_estimate(const Estimates& estimates, const std::string& metric);

/// "data,model,rank,zero_diagonal,kind"
std::string csv_row_name(const StudyRow& row);

}  // namespace poise
