#include "poise/storage/npy.hpp"

#include <bit>
#include <cassert>
#include <span>
#include <string>

#include <fmt/format.h>

#include "poise/storage/atomic_file.hpp"

namespace poise {

void write_npy(const std::filesystem::path& path, MatrixView<const float> matrix) {
  static_assert(std::endian::native == std::endian::little);
  assert(matrix.stride == matrix.cols);
  std::string header = fmt::format("{{'descr': '<f4', 'fortran_order': False, 'shape': ({}, {}), }}",
                                   matrix.rows, matrix.cols);
  constexpr std::size_t preamble = 10;  // magic, version, length
  constexpr std::size_t alignment = 64;
  header.append(alignment - (preamble + header.size() + 1) % alignment, ' ');
  header += '\n';
  AtomicFile file(path);
  file.write(std::string_view("\x93NUMPY\x01\x00", 8));
  const char length[] = {static_cast<char>(header.size() % 256), static_cast<char>(header.size() / 256)};
  file.write(std::string_view(length, 2));
  file.write(header);
  file.write(std::as_bytes(std::span(matrix.data, matrix.data + matrix.rows * matrix.cols)));
  file.commit();
}

}  // namespace poise
