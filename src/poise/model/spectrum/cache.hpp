#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "poise/comm/processes.hpp"
#include "poise/model/spectrum/spectrum.hpp"

namespace poise {

/// How many pairs serve a model of this rank: the next of 128, 256, 512, ... or all of them. A model depends
/// on its rank alone, never on larger ranks that were requested before.
std::int64_t spectrum_step(std::int64_t rank, std::int64_t items);

/// The top spectrum_step(rank, n) pairs of X'X, from `folder`/spectrum-<pairs>.poise if it holds those of
/// the data with this checksum; otherwise computed and, if the folder can be written, stored there. A cache
/// that is damaged, of other data or of another version is replaced; none of these is an error. Several
/// processes, which all call it, use the pairs of the first one, or compute them together; the first one
/// stores them.
Spectrum cached_spectrum(const std::filesystem::path& folder, const std::string& data_checksum, CsrView X,
                         std::int64_t rank, Backend& backend, const Execution& execution,
                         Processes* processes = nullptr);

}  // namespace poise
