#include "poise/solver/spread_inverse.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "poise/base/parallel.hpp"
#include "poise/linalg/vector.hpp"
#include "poise/solver/small_products.hpp"

namespace poise {

template <class T>
void SpreadInverse<T>::copy_rows(Indices items, Out<T> to) const {
  backend_.copy_rows(rows_.view(), share_.places(items), to, {});
}

/// Everyone's message is two marks, whether it works and whether it is asked to stop, and what it gives; the
/// marks of all come back.
template <class T>
std::vector<int> SpreadInverse<T>::ask_who_works(bool working) const {
  Processes& processes = share_.processes();
  constexpr std::size_t marks = 2;
  std::string own = working ? "1" : "0";
  own += news_ != nullptr && news_->stops() ? '1' : '0';
  if (news_ != nullptr) own += news_->give();
  std::string all;
  if (processes.first()) {
    for (int rank = 0; rank < processes.size(); ++rank) {
      const std::string message = rank == 0 ? std::move(own) : processes.receive(rank).bytes;
      all += message.substr(0, marks);
      if (message.size() > marks) news_->take(message.substr(marks));
    }
  } else {
    processes.send(0, std::move(own));
  }
  all = processes.broadcast(std::move(all));
  std::vector<int> workers;
  for (int rank = 0; rank < processes.size(); ++rank) {
    const std::size_t at = marks * static_cast<std::size_t>(rank);
    if (all[at] == '1') workers.push_back(rank);
    if (all[at + 1] == '1') news_->stopping = true;
  }
  return workers;
}

template <class T>
void SpreadInverse<T>::multiply(In<T> r, Out<T> z) const {
  pass_panels(ask_who_works(true), r, z);
}

template <class T>
void SpreadInverse<T>::finish() const {
  for (std::vector<int> workers = ask_who_works(false); !workers.empty(); workers = ask_who_works(false))
    pass_panels(workers, {}, {});
}

template <class T>
void SpreadInverse<T>::pass_panels(const std::vector<int>& workers, In<T> r, Out<T> z) const {
  Processes& processes = share_.processes();
  const int rank = processes.rank();
  const bool working = std::ranges::find(workers, rank) != workers.end();
  const std::int64_t n = share_.items();
  for (int owner = 0; owner < processes.size(); ++owner) {
    std::vector<int> readers = {owner};
    for (const int worker : workers) {
      if (worker != owner) readers.push_back(worker);
    }
    const std::vector<std::int32_t> items = share_.of(owner);
    const Tiling panels{std::ssize(items), panel_rows};
    for (std::int64_t p = 0; p < panels.tiles() && (working || owner == rank); ++p) {
      const std::int64_t count = panels.last(p) - panels.first(p);
      In<T> panel;
      Bytes bytes;
      if (owner == rank) {
        panel = rows_.view().block(panels.first(p), count);
        if (readers.size() > 1) {
          static_cast<void>(processes.broadcast(
              shared_bytes({reinterpret_cast<const char*>(panel.data), sizeof(T) * count * n}), readers));
        }
      } else {
        bytes = processes.broadcast({}, readers);
        panel = {reinterpret_cast<const T*>(bytes->data()), count, n, n};
      }
      processes.flush();
      if (!working) continue;
      Resident<T> part(backend_, r.rows, count);
      backend_.gemm(Op::none, Op::transpose, T{1}, r, panel, T{0}, part.view());
      // A tile of columns at a time: between the tiles of one process lie those of the others.
      for (std::int64_t first = 0; first < count;) {
        const std::int64_t item = items[panels.first(p) + first];
        const std::int64_t width = std::min(count - first, share_.tile() - item % share_.tile());
        backend_.copy(readable(part).columns(first, width), z.columns(item, width));
        first += width;
      }
    }
  }
}

template <class T>
Matrix<T> SpreadInverse<T>::times(const Matrix<T>& y) const {
  return share_.join_rows(poise::times(Op::none, rows_.view(), y, backend_));
}

template <class T>
std::vector<double> SpreadInverse<T>::diagonal() const {
  const std::span<const std::int32_t> own = share_.own();
  std::vector<double> entries(own.size());
  backend_.get_entries(rows_.view(), {}, own, entries);
  std::vector<double> diagonal(share_.items(), 0.0);
  for (std::size_t k = 0; k < own.size(); ++k) diagonal[own[k]] = entries[k];
  share_.add_up(diagonal);
  return diagonal;
}

template class SpreadInverse<float>;
template class SpreadInverse<double>;

}  // namespace poise
