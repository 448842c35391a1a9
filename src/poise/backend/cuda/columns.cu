#include <algorithm>
#include <utility>
#include <vector>

#include "poise/backend/cuda/column_kernels.cuh"

namespace poise {
namespace cuda {
namespace {

/// The pieces of some systems, and what belongs to them.
struct Plan {
  std::vector<Piece> pieces;
  std::vector<Cut> cuts;
  std::int64_t scores = 0;
  std::int32_t slots = 0;

  Plan(CsrView columns, std::span<const std::int32_t> items) {
    for (std::size_t s = 0; s < items.size(); ++s) {
      const std::int64_t begin = columns.offsets[items[s]];
      const std::int64_t end = columns.offsets[items[s] + 1];
      const bool cut = end - begin > piece_users;
      const std::int32_t first_slot = slots;
      for (std::int64_t at = begin; at < end; at += piece_users) {
        const auto count = static_cast<std::int32_t>(std::min(piece_users, end - at));
        pieces.push_back({at, scores, count, static_cast<std::int32_t>(s), cut ? slots++ : -1});
        scores += count;
      }
      if (cut) cuts.push_back({static_cast<std::int32_t>(s), first_slot, slots});
    }
  }
};

/// 16-bit ids where they fit: half of what has to be read. Made once for a pinned matrix.
const std::uint16_t* narrow_ids(CudaBackend& backend, const SparseCopy& copy, std::int64_t begin,
                                std::int64_t entries) {
  if (copy.narrow.size() == 0) {
    copy.narrow = Array<std::uint16_t>(backend, entries);
    narrow_kernel<<<grid(entries, 1024), 256, 0, backend.stream()>>>(copy.view.indices + begin, entries,
                                                                     copy.narrow.data());
    check_launch("narrowing ids");
  }
  return copy.narrow.data() - begin;
}

template <class T, class Index, class Launch>
void run(CudaBackend& backend, const SparseCopy& x, const Index* ids, const SparseCopy& columns,
         const Plan& plan, In<T> p, std::int64_t number_bytes, const Launch& launch) {
  const Array<Piece> pieces = backend.upload(std::span<const Piece>(plan.pieces));
  const Array<double> scores(backend, plan.scores);
  const std::int64_t needed = p.cols * number_bytes;
  const std::int64_t most = backend.shared_bytes() - static_cast<std::int64_t>(sizeof(Batch)) - 1024;
  const std::int64_t shared = std::min(needed, most / 8 * 8);
  launch(Task<T, Index>{x.view.offsets, ids, columns.view.indices, columns.view.values, pieces.data(), p,
                        scores.data(), shared},
         static_cast<unsigned>(shared));
}

/// Calls body with the users' lists in the narrowest ids that fit.
template <class Body>
void with_ids(CudaBackend& backend, CsrView x, const SparseCopy& copy, const Body& body) {
  if (x.cols <= 65536 && x.entries() > 0) {
    body(narrow_ids(backend, copy, x.offsets.front(), x.entries()));
  } else {
    body(copy.view.indices);
  }
}

template <class T>
void hessian(CudaBackend& backend, CsrView x, CsrView columns, Indices items, In<T> p, Out<T> out) {
  const Plan plan(columns, items);
  if (plan.pieces.empty() || p.cols == 0) return;
  x.values = {};
  const auto X = backend.sparse(x);
  const auto by_item = backend.sparse(columns);
  const Array<double> slots(backend, plan.slots * p.cols);
  with_ids(backend, x, *X, [&](const auto* ids) {
    using Index = std::remove_const_t<std::remove_pointer_t<decltype(ids)>>;
    run<T, Index>(
        backend, *X, ids, *by_item, plan, p, sizeof(double),
        [&](const Task<T, Index>& task, unsigned shared) {
          check(cudaFuncSetAttribute(hessian_kernel<T, Index>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                     static_cast<int>(shared)),
                "asking for shared memory");
          hessian_kernel<T, Index>
              <<<static_cast<unsigned>(plan.pieces.size()), threads, shared, backend.stream()>>>(
                  task, out, slots.data());
          check_launch("the column systems");
        });
  });
  if (!plan.cuts.empty()) {
    const Array<Cut> cuts = backend.upload(std::span<const Cut>(plan.cuts));
    const auto count = static_cast<std::int64_t>(plan.cuts.size());
    const dim3 blocks{grid(p.cols, 256), static_cast<unsigned>(std::min<std::int64_t>(count, 65535)), 1};
    add_slots_kernel<<<blocks, 256, 0, backend.stream()>>>(cuts.data(), count, slots.data(), out);
    check_launch("the column systems");
  }
}

template <class T>
void form(CudaBackend& backend, CsrView x, CsrView columns, Indices items, In<T> p, std::span<double> out,
          std::span<double> scores) {
  std::fill_n(out.begin(), items.size(), 0.0);
  const Plan plan(columns, items);
  if (plan.pieces.empty() || p.cols == 0) return std::ranges::fill(scores, 0.0), void();
  x.values = {};
  const auto X = backend.sparse(x);
  const auto by_item = backend.sparse(columns);
  const auto count = static_cast<std::int64_t>(plan.pieces.size());
  const Array<double> sums(backend, count);
  with_ids(backend, x, *X, [&](const auto* ids) {
    using Index = std::remove_const_t<std::remove_pointer_t<decltype(ids)>>;
    run<T, Index>(backend, *X, ids, *by_item, plan, p, sizeof(T), [&](Task<T, Index> task, unsigned shared) {
      const float* const weights = std::exchange(task.weights, nullptr);
      check(cudaFuncSetAttribute(form_kernel<T, Index>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                 static_cast<int>(shared)),
            "asking for shared memory");
      form_kernel<T, Index>
          <<<static_cast<unsigned>(count), threads, shared, backend.stream()>>>(task, weights, sums.data());
      check_launch("the column sums");
      const std::size_t bytes = scores.size_bytes();
      if (bytes > 0) backend.transfer(task.scores, bytes, scores.data(), bytes, bytes, 1);
    });
  });
  std::vector<double> parts(count);
  backend.download(sums, std::span(parts));
  for (std::int64_t k = 0; k < count; ++k) out[plan.pieces[k].system] += parts[k];
}

}  // namespace
}  // namespace cuda

void CudaBackend::column_hessian(CsrView x, CsrView columns, Indices items, In<float> p, Out<float> out) {
  cuda::hessian(*this, x, columns, items, p, out);
}
void CudaBackend::column_hessian(CsrView x, CsrView columns, Indices items, In<double> p, Out<double> out) {
  cuda::hessian(*this, x, columns, items, p, out);
}
void CudaBackend::column_form(CsrView x, CsrView columns, Indices items, In<float> p, std::span<double> out,
                              std::span<double> scores) {
  cuda::form(*this, x, columns, items, p, out, scores);
}
void CudaBackend::column_form(CsrView x, CsrView columns, Indices items, In<double> p, std::span<double> out,
                              std::span<double> scores) {
  cuda::form(*this, x, columns, items, p, out, scores);
}

}  // namespace poise
