#include "scalapack.hpp"

#include <algorithm>

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

template <class T, class Function>
bool invert(GridTiles<T>& tiles, const Function& factor, const Function& invert_factored) {
  int context = -1;
  Cblacs_get(-1, 0, &context);
  Cblacs_gridinit(&context, "Row-major", tiles.grid().rows(), tiles.grid().cols());
  const int size = static_cast<int>(tiles.size());
  const int block = static_cast<int>(tiles.tile());
  const int first = 1;
  const int source = 0;
  const int leading = static_cast<int>(std::max<std::int64_t>(1, tiles.rows()));
  int descriptor[9] = {};
  int info = 0;
  descinit_(descriptor, &size, &size, &block, &block, &source, &source, &context, &leading, &info);
  if (info == 0) factor("L", &size, tiles.column(0), &first, &first, descriptor, &info);
  if (info == 0) invert_factored("L", &size, tiles.column(0), &first, &first, descriptor, &info);
  Cblacs_gridexit(context);
  return info == 0;
}

}  // namespace

bool invert_by_scalapack(GridTiles<float>& tiles) { return invert(tiles, pspotrf_, pspotri_); }
bool invert_by_scalapack(GridTiles<double>& tiles) { return invert(tiles, pdpotrf_, pdpotri_); }

}  // namespace poise
