#pragma once

#include <memory>

#include "poise/backend/backend.hpp"
#include "poise/comm/processes.hpp"

namespace poise {

/// From which size on dense products are divided; smaller ones are computed by every process, which takes
/// less time than a message.
struct TeamSizes {
  double least_product = 1e8;  ///< operations of a matrix product
  double least_gram = 2e6;     ///< operations of Z' diag(a) Z
};

/// The processors of all processes of a job as one backend: every process calls the same primitives with the
/// same operands and gets the same results, those of one process, bit for bit. Rows of sparse products and of
/// row systems, of large dense products and the parts of d x d sums are divided among the processes, each
/// computed as one process would, and travel to all of them. Everything else each process computes itself.
/// See docs/design/team-backend.md. `processes` must outlive it.
std::unique_ptr<Backend> make_team(Processes& processes, int threads, Observer* observer,
                                   TeamSizes sizes = {});

}  // namespace poise
