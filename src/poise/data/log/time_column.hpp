#pragma once

#include <optional>
#include <span>

#include "poise/data/log/delimited.hpp"
#include "poise/data/log/sample.hpp"

namespace poise::logs {

/// Whether the layout reads this column.
bool is_used(const DelimitedLayout& layout, int column);

/// The column of times if none is asked for: of those with a known name one that holds times, else any of
/// them; where no name is known, or there are none, the first column that holds times. With a `header` of
/// names the latter is allowed only if `any`. `first` has the names, or the first row.
std::optional<int> time_column(const Fields& first, std::span<const Fields> rows, bool header,
                               const DelimitedLayout& layout, bool any);

}  // namespace poise::logs
