#include "poise/comm/mpi/scalapack.hpp"

#include <utility>

extern "C" {
void Cblacs_get(int context, int what, int* value);
void Cblacs_gridinit(int* context, const char* order, int rows, int cols);
void Cblacs_gridexit(int context);
void descinit_(int* descriptor, const int* m, const int* n, const int* mb, const int* nb,
               const int* row_source, const int* col_source, const int* context, const int* leading,
               int* info);
void pspotrf_(const char* uplo, const int* n, float* a, const int* i, const int* j, const int* descriptor,
              int* info);
void pdpotrf_(const char* uplo, const int* n, double* a, const int* i, const int* j, const int* descriptor,
              int* info);
void pspotri_(const char* uplo, const int* n, float* a, const int* i, const int* j, const int* descriptor,
              int* info);
void pdpotri_(const char* uplo, const int* n, double* a, const int* i, const int* j, const int* descriptor,
              int* info);
}

namespace poise {
namespace {

class ScalapackGrid : public DenseGrid {
 public:
  ScalapackGrid(int rows, int cols, int rank) : DenseGrid(rows, cols, rank) {
    Cblacs_get(-1, 0, &context_);
    Cblacs_gridinit(&context_, "Row-major", rows, cols);
  }
  ~ScalapackGrid() override { Cblacs_gridexit(context_); }

  std::int64_t factor(std::int64_t n, std::int64_t tile, float* local) override {
    return call(pspotrf_, n, tile, local);
  }
  std::int64_t factor(std::int64_t n, std::int64_t tile, double* local) override {
    return call(pdpotrf_, n, tile, local);
  }
  std::int64_t invert_factored(std::int64_t n, std::int64_t tile, float* local) override {
    return call(pspotri_, n, tile, local);
  }
  std::int64_t invert_factored(std::int64_t n, std::int64_t tile, double* local) override {
    return call(pdpotri_, n, tile, local);
  }

 private:
  template <class T, class Function>
  std::int64_t call(const Function& function, std::int64_t n, std::int64_t tile, T* local) {
    const int size = static_cast<int>(n);
    const int block = static_cast<int>(tile);
    const int first = 1;
    const int source = 0;
    const int leading = static_cast<int>(std::max<std::int64_t>(1, dealt(n, tile, row(), rows())));
    int descriptor[9] = {};
    int info = 0;
    descinit_(descriptor, &size, &size, &block, &block, &source, &source, &context_, &leading, &info);
    if (info == 0) function("L", &size, local, &first, &first, descriptor, &info);
    return info < 0 ? 1 : info;
  }

  int context_ = -1;
};

}  // namespace

std::unique_ptr<DenseGrid> make_scalapack_grid(int processes, int rank) {
  const int rows = grid_rows(processes);
  return std::make_unique<ScalapackGrid>(rows, processes / rows, rank);
}

}  // namespace poise
