#include "poise/model/full_rank/dense_checkpoint.hpp"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "poise/base/error.hpp"
#include "poise/comm/packed.hpp"

namespace poise {
namespace {

/// A block of columns as a message, and back.
std::string message_of(const SolvedColumns& block) {
  const MatrixView<const float> beta = block.beta.view();
  std::string rows(reinterpret_cast<const char*>(beta.data), sizeof(float) * beta.rows * beta.cols);
  return packed({bytes_of(block.items), std::move(rows), bytes_of(block.own), block.direct ? "1" : "0",
                 bytes_of(std::vector{block.trace.iterations}), bytes_of(block.trace.worst)});
}

SolvedColumns block_in(const std::string& message) {
  const std::vector<std::string> texts = unpacked(message);
  SolvedColumns block{.items = values_of<std::int32_t>(texts.at(0)),
                      .beta = {},
                      .own = values_of<double>(texts.at(2)),
                      .direct = texts.at(3) == "1",
                      .trace = {.iterations = values_of<std::int64_t>(texts.at(4)).front(),
                                .worst = values_of<double>(texts.at(5))}};
  const auto count = std::ssize(block.items);
  const auto numbers = static_cast<std::int64_t>(texts[1].size() / sizeof(float));
  block.beta = Matrix<float>::uninitialized(count, count > 0 ? numbers / count : 0);
  if (numbers > 0) std::memcpy(block.beta.view().data, texts[1].data(), texts[1].size());
  return block;
}

/// Some of the columns of a block.
SolvedColumns picked(const SolvedColumns& block, std::span<const std::int64_t> places) {
  SolvedColumns some{.items = {},
                     .beta = Matrix<float>::uninitialized(std::ssize(places), block.beta.cols()),
                     .own = {},
                     .direct = block.direct,
                     .trace = block.trace};
  for (const std::int64_t place : places) {
    std::ranges::copy(block.beta.row(place), some.beta.row(std::ssize(some.items)).begin());
    some.items.push_back(block.items[place]);
    if (!block.own.empty()) some.own.push_back(block.own[place]);
  }
  return some;
}

}  // namespace

void add_trace(FullRankFit& result, const IterationTrace& trace) {
  result.iterations = std::max(result.iterations, trace.iterations);
  if (result.worst_column.size() < trace.worst.size()) result.worst_column.resize(trace.worst.size(), 0.0);
  for (std::size_t k = 0; k < trace.worst.size(); ++k)
    result.worst_column[k] = std::max(result.worst_column[k], trace.worst[k]);
}

DenseCheckpoint::DenseCheckpoint(const std::filesystem::path& folder, std::string key, std::int64_t items,
                                 const ColumnShare* share, Observer* observer)
    : items_(items), share_(share), observer_(dynamic_cast<RoundObserver*>(observer)) {
  if (first()) parts_.emplace(folder, std::move(key), share_ == nullptr ? 1 : share_->processes().size());
  news_.stops = [this] { return observer_ != nullptr && observer_->asked(); };
  news_.give = [this] { return waiting_.empty() ? std::string() : packed(std::exchange(waiting_, {})); };
  news_.take = [this](const std::string& message) {
    for (const std::string& each : unpacked(message)) write(block_in(each));
  };
}

std::string DenseCheckpoint::shared(std::string bytes) const {
  return share_ == nullptr ? bytes : share_->processes().broadcast(std::move(bytes));
}

template <class Body>
void DenseCheckpoint::for_each_run(std::int64_t first, std::int64_t last, const Body& body) const {
  for (std::int64_t begin = first; begin < last;) {
    std::int64_t end = begin + 1;
    while (end < last && owner(end) == owner(begin)) ++end;
    body(owner(begin), begin, end);
    begin = end;
  }
}

template <class T>
bool DenseCheckpoint::has_inverse() const {
  const bool there = first() && parts_->has_inverse(items_, sizeof(T));
  return shared(there ? "1" : "0") == "1";
}

template <class T>
void DenseCheckpoint::load_inverse(Out<T> rows, Backend& backend, FullRankFit& result) const {
  std::string known;
  for (std::int64_t begin = 0; begin < items_; begin += DenseParts::rows_per_part) {
    const std::int64_t end = std::min(begin + DenseParts::rows_per_part, items_);
    std::optional<Container> part;
    std::span<const T> all;
    if (first()) {
      part = parts_->inverse_part(begin, sizeof(T));
      all = part->elements<T>("rows");
      if (std::ssize(all) != (end - begin) * items_)
        fail(ErrorKind::input, "{} does not fit together; remove it, and what it held is computed again",
             part->name());
      const InverseFigures figures = DenseParts::figures_of(*part);
      known = packed({bytes_of(std::vector{figures.condition}),
                      bytes_of(std::vector{figures.trace.iterations}), bytes_of(figures.trace.worst)});
    }
    for_each_run(begin, end, [&](int to, std::int64_t from_item, std::int64_t to_item) {
      const std::int64_t count = to_item - from_item;
      const T* const there = all.data() + (from_item - begin) * items_;
      std::string bytes;
      if (first() && to != 0) {
        bytes.assign(reinterpret_cast<const char*>(there), sizeof(T) * count * items_);
        share_->processes().send(to, std::move(bytes));
        share_->processes().flush();
      }
      if (to != rank()) return;
      const T* source = there;
      if (!first()) {
        bytes = share_->processes().receive(0).bytes;
        source = reinterpret_cast<const T*>(bytes.data());
      }
      backend.upload(MatrixView<const T>{source, count, items_, items_}, rows.block(place(from_item), count));
    });
  }
  const std::vector<std::string> figures = unpacked(shared(std::move(known)));
  result.condition = values_of<double>(figures.at(0)).front();
  add_trace(result, {.iterations = values_of<std::int64_t>(figures.at(1)).front(),
                     .worst = values_of<double>(figures.at(2))});
}

template <class T>
void DenseCheckpoint::save_inverse(In<T> rows, Backend& backend, const FullRankFit& result) const {
  if (observer_ != nullptr) observer_->in_round = true;
  const InverseFigures figures{.condition = result.condition,
                               .trace = {.iterations = result.iterations, .worst = result.worst_column}};
  for (std::int64_t begin = 0; begin < items_; begin += DenseParts::rows_per_part) {
    const std::int64_t end = std::min(begin + DenseParts::rows_per_part, items_);
    auto part = Matrix<T>::uninitialized(first() ? end - begin : 0, items_);
    for_each_run(begin, end, [&](int from, std::int64_t from_item, std::int64_t to_item) {
      const std::int64_t count = to_item - from_item;
      const std::size_t size = sizeof(T) * static_cast<std::size_t>(count * items_);
      if (from == rank() && !first()) {
        auto own = Matrix<T>::uninitialized(count, items_);
        backend.download(rows.block(place(from_item), count), own.view());
        share_->processes().send(0, {reinterpret_cast<const char*>(own.view().data), size});
        share_->processes().flush();
      }
      if (!first()) return;
      const MatrixView<T> to = part.view().block(from_item - begin, count);
      if (from == 0) {
        backend.download(rows.block(place(from_item), count), to);
      } else {
        const std::string bytes = share_->processes().receive(from).bytes;
        std::memcpy(to.data, bytes.data(), size);
      }
    });
    if (first()) parts_->write_inverse_part(begin, part, figures);
  }
  if (first() && sizeof(T) == sizeof(double)) parts_->forget(sizeof(float));
  if (observer_ != nullptr) observer_->in_round = false;
  stop_if_asked(observer_);
}

template <class T>
void DenseCheckpoint::load_columns(const std::function<void(const SolvedColumns&)>& take) const {
  std::vector<std::filesystem::path> files;
  if (first()) files = parts_->blocks(sizeof(T));
  const auto count =
      values_of<std::int64_t>(shared(bytes_of(std::vector<std::int64_t>{std::ssize(files)}))).front();
  const int processes = share_ == nullptr ? 1 : share_->processes().size();
  for (std::int64_t k = 0; k < count; ++k) {
    if (!first()) {
      take(block_in(share_->processes().receive(0).bytes));
      continue;
    }
    const SolvedColumns block = parts_->read_block(files[k], items_);
    std::vector<std::vector<std::int64_t>> places(processes);
    for (std::int64_t c = 0; c < std::ssize(block.items); ++c) places[owner(block.items[c])].push_back(c);
    for (int to = 1; to < processes; ++to) {
      share_->processes().send(to, message_of(picked(block, places[to])));
      share_->processes().flush();
    }
    take(picked(block, places[0]));
  }
}

void DenseCheckpoint::keep(std::size_t number_bytes) {
  number_bytes_ = number_bytes;
  if (observer_ != nullptr) observer_->in_round = true;
}

bool DenseCheckpoint::stops() const { return news_.stopping || news_.stops(); }

void DenseCheckpoint::save(const SolvedColumns& block) {
  if (block.items.empty()) return;
  if (share_ == nullptr)
    write(block);
  else
    waiting_.push_back(message_of(block));
}

void DenseCheckpoint::end() {
  // What was asked of one process only now is its own affair: it stops at the next occasion.
  const bool stop = share_ == nullptr ? news_.stops() : news_.stopping;
  if (observer_ != nullptr) observer_->in_round = false;
  if (stop) throw Error(ErrorKind::interrupted, "interrupted");
}

template bool DenseCheckpoint::has_inverse<float>() const;
template bool DenseCheckpoint::has_inverse<double>() const;
template void DenseCheckpoint::load_inverse(Out<float>, Backend&, FullRankFit&) const;
template void DenseCheckpoint::load_inverse(Out<double>, Backend&, FullRankFit&) const;
template void DenseCheckpoint::save_inverse(In<float>, Backend&, const FullRankFit&) const;
template void DenseCheckpoint::save_inverse(In<double>, Backend&, const FullRankFit&) const;
template void DenseCheckpoint::load_columns<float>(const std::function<void(const SolvedColumns&)>&) const;
template void DenseCheckpoint::load_columns<double>(const std::function<void(const SolvedColumns&)>&) const;

}  // namespace poise
