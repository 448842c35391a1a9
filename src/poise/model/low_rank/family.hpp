#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "poise/model/family.hpp"
#include "poise/model/low_rank/round_checkpoint.hpp"

namespace poise {

/// The parameters of low-rank families; `beside` are those of one family alone.
std::vector<FamilyParameter> low_rank_parameters(const FamilyParameter& beside);

/// The report of a fit, with the model made of its factors.
Trained trained_of(LowRankFit& fit, std::shared_ptr<const Scorer> model);

/// Where the context asks for one.
std::optional<RoundCheckpoint> round_checkpoint(const FitContext& context);

/// Whether there are rounds, and not a closed form.
bool has_rounds(const ModelParameters& parameters);

/// The bytes of the eigenpairs that a model of this rank begins with.
std::uint64_t eigenpair_bytes(const ModelParameters& parameters, CsrView X);

/// Of a fit that holds so many bytes, eigenpairs included; a round takes `per_entry` operations for each
/// entry and direction, of which a gathered one counts as ten, and `dense` beside.
TrainingCost low_rank_cost(const ModelParameters& parameters, CsrView X, std::uint64_t held, bool eigenpairs,
                           double per_entry, double dense);

/// Of a GPU's memory: eigenpairs of X'X in float64 with cuSOLVER's workspace, or what the rounds hold.
double low_rank_gpu_bytes(CsrView X, double held);

}  // namespace poise
