#pragma once

#include <string>

#include "poise/study/results.hpp"

/// Parts that the results.csv of a study and of several splits share.
namespace poise {

/// The shortest text that reads back to the same number; "" if it is not finite.
std::string csv_number(double value);
std::string csv_number(const std::optional<double>& value);

/// "mean,error"
std::string csv_estimate(const Estimates& estimates, const std::string& metric);

/// "data,model,rank,zero_diagonal,kind"
std::string csv_row_name(const StudyRow& row);

}  // namespace poise
