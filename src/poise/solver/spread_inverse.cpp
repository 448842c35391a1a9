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
  backend_.copy_rows(rows_, share_.places(items), to, {});
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
      const std::string message = rank == 0 ? own : processes.receive(rank).bytes;
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
void SpreadInverse<T>::hold_on_host(Resident<T>& rows) {
  Processes& processes = share_.processes();
  const bool apart = backend_.traits().own_memory;
  const Matrix<T> home = apart ? rows.home() : Matrix<T>();
  const T* const data = apart ? home.view().data : rows_.data;
  of_host_ = hold_each({reinterpret_cast<const std::byte*>(data),
                        sizeof(T) * static_cast<std::size_t>(rows.rows() * rows.cols())},
                       processes);
  if (const MatrixView<const T> own = rows_here(processes.rank()); own.rows > 0 && !apart) {
    rows = {};
    rows_ = {own.data, own.rows, own.cols, own.stride};
  }
  std::string sees;
  for (int owner = 0; owner < processes.size(); ++owner)
    sees += share_.of(owner).empty() || owner == processes.rank() || rows_here(owner).rows > 0 ? '1' : '0';
  sees_ = processes.all_gather(std::move(sees));
  one_host_ =
      std::ranges::all_of(sees_, [](const std::string& each) { return each.find('0') == std::string::npos; });
}

template <class T>
MatrixView<const T> SpreadInverse<T>::rows_here(int owner) const {
  const std::int64_t n = share_.items();
  const auto at = static_cast<std::size_t>(owner);
  if (at >= of_host_.size() || of_host_[at].bytes().empty()) return {};
  const std::span<const std::byte> bytes = of_host_[at].bytes();
  const auto rows = static_cast<std::int64_t>(bytes.size() / sizeof(T)) / n;
  return {reinterpret_cast<const T*>(bytes.data()), rows, n, n};
}

template <class T>
void SpreadInverse<T>::multiply(In<T> r, Out<T> z) const {
  // What is said in rounds is not said without them.
  pass_panels(
      one_host_ && news_ == nullptr ? std::vector<int>{share_.processes().rank()} : ask_who_works(true), r,
      z);
}

template <class T>
void SpreadInverse<T>::finish() const {
  if (one_host_ && news_ == nullptr) return share_.processes().meet();
  for (std::vector<int> workers = ask_who_works(false); !workers.empty(); workers = ask_who_works(false))
    pass_panels(workers, {}, {});
}

/// The processes among which the panels of one pass: itself, and the workers that do not see its rows.
template <class T>
std::vector<int> SpreadInverse<T>::readers_of(int owner, const std::vector<int>& workers) const {
  std::vector<int> readers = {owner};
  for (const int worker : workers) {
    if (worker == owner) continue;
    if (sees_.empty() || sees_[static_cast<std::size_t>(worker)][static_cast<std::size_t>(owner)] == '0')
      readers.push_back(worker);
  }
  return readers;
}

template <class T>
std::vector<typename SpreadInverse<T>::Panel> SpreadInverse<T>::panels_of_round(
    const std::vector<int>& workers) const {
  const int rank = share_.processes().rank();
  std::vector<Panel> round;
  for (int owner = 0; owner < share_.processes().size(); ++owner) {
    const std::vector<int> readers = readers_of(owner, workers);
    if (readers.size() < 2 || std::ranges::find(readers, rank) == readers.end()) continue;
    const std::vector<std::int32_t> items = share_.of(owner);
    const Tiling panels{std::ssize(items), panel_rows};
    for (std::int64_t p = 0; p < panels.tiles(); ++p)
      round.push_back(
          {readers, {items.begin() + panels.first(p), items.begin() + panels.last(p)}, panels.first(p)});
  }
  return round;
}

/// This thread alone calls the backend, that one alone the processes until its future was asked for.
template <class T>
std::future<Bytes> SpreadInverse<T>::begin_passing(const Panel& panel) const {
  Processes& processes = share_.processes();
  Bytes own;
  if (panel.readers.front() == processes.rank()) {
    const auto count = std::ssize(panel.items);
    std::string bytes(sizeof(T) * static_cast<std::size_t>(count * share_.items()), '\0');
    backend_.download(rows_.block(panel.first, count),
                      {reinterpret_cast<T*>(bytes.data()), count, share_.items(), share_.items()});
    own = shared_bytes(std::move(bytes));
  }
  return std::async(std::launch::async,
                    [&processes, readers = panel.readers, own = std::move(own)]() mutable {
                      Bytes bytes = processes.broadcast(std::move(own), readers);
                      processes.flush();
                      return bytes;
                    });
}

template <class T>
void SpreadInverse<T>::pass_panels(const std::vector<int>& workers, In<T> r, Out<T> z) const {
  Processes& processes = share_.processes();
  const int rank = processes.rank();
  const bool working = std::ranges::find(workers, rank) != workers.end();
  const std::vector<Panel> panels = panels_of_round(workers);
  processes.look();
  std::future<Bytes> next;
  if (!panels.empty()) next = begin_passing(panels.front());
  for (int owner = 0; owner < processes.size() && working; ++owner) {
    if (panels.empty()) processes.look();
    if (owner == rank)
      multiply_rows(r, rows_, share_.own(), z);
    else if (const MatrixView<const T> rows = rows_here(owner); rows.rows > 0)
      multiply_rows(r, rows, share_.of(owner), z);
  }
  for (std::size_t p = 0; p < panels.size(); ++p) {
    const Bytes bytes = next.get();
    if (p + 1 < panels.size()) next = begin_passing(panels[p + 1]);
    if (!working || panels[p].readers.front() == rank) continue;
    const std::int64_t n = share_.items();
    multiply_rows(
        r, MatrixView<const T>{reinterpret_cast<const T*>(bytes->data()), std::ssize(panels[p].items), n, n},
        panels[p].items, z);
  }
}

template <class T>
void SpreadInverse<T>::multiply_rows(In<T> r, In<T> rows, Indices items, Out<T> z) const {
  const Tiling parts{rows.rows, panel_rows};
  for (std::int64_t p = 0; p < parts.tiles(); ++p) {
    const std::int64_t count = parts.last(p) - parts.first(p);
    Resident<T> part(backend_, r.rows, count);
    backend_.gemm(Op::none, Op::transpose, T{1}, r, rows.block(parts.first(p), count), T{0}, part.view());
    // A tile of columns at a time: between the tiles of one process lie those of the others.
    for (std::int64_t first = 0; first < count;) {
      const std::int64_t item = items[parts.first(p) + first];
      const std::int64_t width = std::min(count - first, share_.tile() - item % share_.tile());
      backend_.copy(readable(part).columns(first, width), z.columns(item, width));
      first += width;
    }
  }
}

template <class T>
void SpreadInverse<T>::multiply_rows(In<T> r, MatrixView<const T> rows, Indices items, Out<T> z) const {
  const Tiling parts{rows.rows, panel_rows};
  for (std::int64_t p = 0; p < parts.tiles(); ++p) {
    const std::int64_t first = parts.first(p);
    const std::int64_t count = parts.last(p) - first;
    const Lent<T> there(backend_, rows.block(first, count));
    multiply_rows(r, there.view(), items.subspan(first, count), z);
  }
}

template <class T>
Matrix<T> SpreadInverse<T>::times(const Matrix<T>& y) const {
  return share_.join_rows(poise::times(Op::none, rows_, y, backend_));
}

template <class T>
std::vector<double> SpreadInverse<T>::diagonal() const {
  const std::span<const std::int32_t> own = share_.own();
  std::vector<double> entries(own.size());
  backend_.get_entries(rows_, {}, own, entries);
  std::vector<double> diagonal(share_.items(), 0.0);
  for (std::size_t k = 0; k < own.size(); ++k) diagonal[own[k]] = entries[k];
  share_.add_up(diagonal);
  return diagonal;
}

template class SpreadInverse<float>;
template class SpreadInverse<double>;

}  // namespace poise
