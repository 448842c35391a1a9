#pragma once

namespace poise {

/// While it lives, BLAS calls of this thread and of the tiles it starts run on one thread each. The calling
/// program's own settings are put back afterwards.
class SerialBlas {
 public:
  SerialBlas();
  SerialBlas(const SerialBlas&) = delete;
  SerialBlas& operator=(const SerialBlas&) = delete;
  ~SerialBlas();

 private:
  int openmp_threads_;
  int blas_threads_;
};

}  // namespace poise
