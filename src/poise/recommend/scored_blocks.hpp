#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "poise/base/parallel.hpp"
#include "poise/linalg/csr.hpp"
#include "poise/linalg/matrix.hpp"
#include "poise/model/scorer.hpp"

namespace poise {

/// Error{input} when the histories are not over so many items.
void check_histories(CsrView histories, std::int64_t items);

/// Scores all users of `histories` in blocks of a fixed number of users and calls body(first, scores) for
/// each block, scores(k, i) being the score of item i for row first + k. Bodies run on several threads at
/// once. Memory: one block (64 x items floats, 64 MB at the most) for each thread, never users x items.
/// Progress is reported as `task`, in users. Error{input} when the histories are not over the scorer's items.
void for_each_scored_block(
    const Scorer& scorer, CsrView histories, std::string_view task, const Execution& execution,
    const std::function<void(std::int64_t first, MatrixView<const float> scores)>& body);

}  // namespace poise
