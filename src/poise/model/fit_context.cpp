#include "poise/model/fit_context.hpp"

#include "poise/model/spectrum/cache.hpp"

namespace poise {

const Spectrum& FitContext::eigenpairs(std::int64_t rank) {
  const std::int64_t step = poise::spectrum_step(rank, X.cols);
  if (spectrum_step != step) {
    spectrum = {};
    spectrum = folder.empty() ? top_spectrum(X, {}, step, backend, execution)
                              : cached_spectrum(folder, checksum, X, rank, backend, execution, processes);
    spectrum_step = step;
  }
  return spectrum;
}

void FitContext::forget() {
  basis = {};
  left = {};
  spectrum = {};
  spectrum_step = 0;
}

}  // namespace poise
