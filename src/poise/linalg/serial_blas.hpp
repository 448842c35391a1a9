#pragma once

namespace poise {

/// RAII handle: while it exists, BLAS calls of this thread and of the tiles it starts run on one thread each.
/// The destructor restores the calling program's settings.
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
