#pragma once

#include <cstdint>
#include <utility>

#include "poise/comm/host_memory.hpp"
#include "poise/linalg/csr.hpp"

namespace poise {

/// A sparse matrix that this process has for itself, or that its host holds once.
class HostCsr {
 public:
  HostCsr() : HostCsr(Csr()) {}
  HostCsr(Csr own)  // NOLINT(google-explicit-constructor)
      : rows_(own.rows),
        cols_(own.cols),
        offsets_(std::move(own.offsets)),
        indices_(std::move(own.indices)),
        values_(std::move(own.values)) {}

  [[nodiscard]] std::int64_t entries() const { return view().entries(); }
  [[nodiscard]] CsrView view() const {
    return {rows_, cols_, offsets_.view(), indices_.view(), values_.view()};
  }
  /// All processes, of which each has this matrix, call it together. Views of it are no longer valid.
  void hold_once(Processes& processes) {
    offsets_.hold_once(processes);
    indices_.hold_once(processes);
    values_.hold_once(processes);
  }

 private:
  std::int64_t rows_;
  std::int64_t cols_;
  HostArray<std::int64_t> offsets_;
  HostArray<std::int32_t> indices_;
  HostArray<float> values_;
};

}  // namespace poise
