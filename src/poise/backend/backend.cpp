#include "poise/backend/backend.hpp"

#include "poise/backend/cpu/cpu_backend.hpp"
#include "poise/backend/cuda/cuda.hpp"
#include "poise/backend/reference/reference_backend.hpp"
#include "poise/backend/resident.hpp"
#include "poise/base/error.hpp"

namespace poise {

std::string_view to_string(BackendKind kind) {
  switch (kind) {
    case BackendKind::reference:
      return "reference";
    case BackendKind::cpu:
      return "cpu";
    case BackendKind::cuda:
      break;
  }
  return "cuda";
}

EigenPairs Backend::symmetric_eigenpairs(Matrix<double> a) {
  const std::int64_t size = a.rows();
  return symmetric_eigenpairs(Resident<double>(*this, std::move(a)).view(), size);
}

std::unique_ptr<Backend> make_backend(BackendKind kind, int threads, Observer* observer) {
  if (threads < 1) fail(ErrorKind::usage, "{} threads requested: give at least 1", threads);
  if (kind == BackendKind::reference) return std::make_unique<ReferenceBackend>();
  if (kind == BackendKind::cuda) return make_cuda_backend(threads, observer);
  return std::make_unique<CpuBackend>(threads, observer);
}

}  // namespace poise
