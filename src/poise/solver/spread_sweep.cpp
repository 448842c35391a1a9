#include "poise/solver/spread_sweep.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "poise/backend/resident.hpp"
#include "poise/linalg/serial_blas.hpp"
#include "poise/linalg/sweep_panel.hpp"

namespace poise {

namespace {

/// Rows of a panel that belong to the tiles of one process along one side of its grid: tile `first`, first +
/// step, ... of the matrix, one below the other.
template <class T>
struct SidePanel {
  SidePanel(Tiling blocks, std::int64_t first_block, std::int64_t step_of_blocks)
      : tiling(blocks),
        first(first_block),
        step(step_of_blocks),
        stride(sweep::panel_stride(blocks.size)),
        data(dealt(blocks.count, blocks.size, first, step) * stride) {}

  [[nodiscard]] bool has(std::int64_t block) const { return block % step == first; }
  /// The row at which a block begins, of those here.
  [[nodiscard]] std::int64_t row(std::int64_t block) const { return block / step * tiling.size; }
  /// How many rows belong to the blocks before this one.
  [[nodiscard]] std::int64_t rows_before(std::int64_t block) const {
    return std::min((block - first + step - 1) / step * tiling.size, rows());
  }
  [[nodiscard]] std::int64_t rows() const { return std::ssize(data) / stride; }
  [[nodiscard]] std::int64_t height(std::int64_t block) const {
    return tiling.last(block) - tiling.first(block);
  }
  /// `count` blocks from this one, each `step` after the other, in so many columns.
  [[nodiscard]] MatrixView<T> rows(std::int64_t block, std::int64_t count, std::int64_t width) {
    const std::int64_t last = block + (count - 1) * step;
    return {data.data() + row(block) * stride, row(last) + height(last) - row(block), width, stride};
  }

  Tiling tiling;
  std::int64_t first;
  std::int64_t step;
  std::int64_t stride;
  std::vector<T> data;
};

/// The tiles of a process in a backend's memory. As rows, the matrix is the transpose of what GridTiles holds
/// by columns: its upper triangle counts.
template <class T>
class TilesThere {
 public:
  TilesThere(GridTiles<T>& tiles, SidePanel<T>& left, SidePanel<T>& right, Backend& backend)
      : here_{tiles.column(0), tiles.cols(), tiles.rows(), tiles.rows()},
        left_(left),
        right_(right),
        backend_(backend),
        there_(backend, std::as_const(here_)) {}

  /// The tiles of block row and column k, to ordinary memory.
  void bring(std::int64_t k) {
    for_each_part(k, [&](std::int64_t row, std::int64_t rows, std::int64_t col, std::int64_t cols) {
      backend_.download(part(row, rows, col, cols), home(row, rows, col, cols));
    });
  }
  /// These back, and the products of the panels to all other tiles.
  void update(std::int64_t k, std::int64_t width) {
    for_each_part(k, [&](std::int64_t row, std::int64_t rows, std::int64_t col, std::int64_t cols) {
      backend_.upload(home(row, rows, col, cols), part(row, rows, col, cols));
    });
    const Resident<T> left(backend_, panel(left_, width));
    const Resident<T> right(backend_, panel(right_, width));
    const std::int64_t k_first = right_.rows_before(k);
    const std::int64_t k_last = right_.rows_before(k + 1);
    for (std::int64_t i = left_.first; i < left_.tiling.tiles(); i += left_.step) {
      if (i == k) continue;
      const std::int64_t first = right_.rows_before(i);
      add_products(T{1}, i, first, k_first, left, right);
      add_products(T{-1}, i, std::max(first, k_last), right_.rows(), left, right);
    }
  }
  /// All of them, to ordinary memory.
  void bring_all() { backend_.download(std::as_const(there_).view(), here_); }

 private:
  [[nodiscard]] Out<T> part(std::int64_t row, std::int64_t rows, std::int64_t col, std::int64_t cols) {
    return there_.view().block(row, rows).columns(col, cols);
  }
  [[nodiscard]] MatrixView<T> home(std::int64_t row, std::int64_t rows, std::int64_t col,
                                   std::int64_t cols) const {
    return {here_.data + row * here_.stride + col, rows, cols, here_.stride};
  }
  [[nodiscard]] static MatrixView<const T> panel(const SidePanel<T>& side, std::int64_t width) {
    return {side.data.data(), side.rows(), width, side.stride};
  }
  /// The rectangles that these tiles are, of the upper triangle.
  template <class Body>
  void for_each_part(std::int64_t k, const Body& body) const {
    const std::int64_t below = left_.rows_before(k + 1);
    if (right_.has(k) && below > 0) body(0, below, right_.row(k), right_.height(k));
    const std::int64_t after = right_.rows_before(k + 1);
    if (left_.has(k) && after < right_.rows())
      body(left_.row(k), left_.height(k), after, right_.rows() - after);
  }
  /// To the tiles of block row i in columns [first, last).
  void add_products(T sign, std::int64_t i, std::int64_t first, std::int64_t last, const Resident<T>& left,
                    const Resident<T>& right) {
    if (first >= last) return;
    backend_.gemm(Op::none, Op::transpose, sign, left.view().block(left_.row(i), left_.height(i)),
                  right.view().block(first, last - first), T{1},
                  part(left_.row(i), left_.height(i), first, last - first));
  }

  MatrixView<T> here_;
  SidePanel<T>& left_;
  SidePanel<T>& right_;
  Backend& backend_;
  Resident<T> there_;
};

template <class T>
class SpreadSweep {
 public:
  SpreadSweep(GridTiles<T>& tiles, Processes& processes, const Execution& execution, Backend* backend)
      : tiles_(tiles),
        grid_(tiles.grid()),
        processes_(processes),
        execution_(execution),
        blocks_{tiles.size(), tiles.tile()},
        left_(blocks_, grid_.col(), grid_.cols()),
        right_(blocks_, grid_.row(), grid_.rows()),
        diagonal_(blocks_.size, sweep::panel_stride(blocks_.size)) {
    if (backend != nullptr && backend->traits().own_memory) there_.emplace(tiles_, left_, right_, *backend);
  }

  bool run() {
    Progress progress(execution_.observer, "inverting", blocks_.tiles(), "blocks");
    for (std::int64_t k = 0; k < blocks_.tiles(); ++k) {
      stop_if_asked(execution_.observer);
      if (there_) there_->bring(k);
      if (!share_diagonal(k)) return false;
      form_panels(k);
      pass_panels(k);
      update(k);
      progress.advance(1);
    }
    if (there_) there_->bring_all();
    return all_agree(inverted_);
  }

 private:
  /// Tiles of block row i, `count` of them from block column j on, in whose columns this process goes on.
  struct Strip {
    std::int64_t i, j, count;
  };
  static constexpr std::int64_t strip_blocks = 4;

  [[nodiscard]] std::int64_t width(std::int64_t k) const { return blocks_.last(k) - blocks_.first(k); }
  /// S_ij and, beside it, this process' next ones of that row. Its memory holds the lower triangle by
  /// columns: the upper one by rows.
  [[nodiscard]] MatrixView<T> tile(std::int64_t i, std::int64_t j, std::int64_t columns) const {
    return {tiles_.at(j, i), width(i), columns, tiles_.rows()};
  }
  [[nodiscard]] MatrixView<T> tile(std::int64_t i, std::int64_t j) const { return tile(i, j, width(j)); }
  [[nodiscard]] bool holds_diagonal(std::int64_t k) const { return right_.has(k) && left_.has(k); }
  [[nodiscard]] MatrixView<T> diagonal(std::int64_t k) {
    return {diagonal_.view().data, width(k), width(k), diagonal_.cols()};
  }

  [[nodiscard]] bool all_agree(bool own) const {
    const std::vector<std::string> all = processes_.all_gather(own ? "1" : "0");
    return std::ranges::all_of(all, [](const std::string& each) { return each == "1"; });
  }

  /// U of S_kk = U'U at all processes; false if there is none. All learn that by its absence.
  bool share_diagonal(std::int64_t k) {
    const int owner = grid_.owner(k, k);
    std::vector<int> ranks(processes_.size());
    for (int other = 0; other < processes_.size(); ++other)
      ranks[other] = (owner + other) % processes_.size();
    const MatrixView<T> u = diagonal(k);
    Bytes bytes;
    if (holds_diagonal(k)) {
      sweep::copy(tile(k, k), u);
      std::string factor;
      if (dense::factor_upper(u)) append(u, factor);
      bytes = shared_bytes(std::move(factor));
    }
    bytes = processes_.broadcast(std::move(bytes), ranks);
    if (bytes->empty()) return false;
    if (!holds_diagonal(k)) fill(u, bytes->data());
    return true;
  }

  /// P_i of this process' tiles in block column k above the diagonal, and in block row k.
  void form_panels(std::int64_t k) {
    for_each_tile(blocks_.tiles(), execution_.threads, [&](std::int64_t i) {
      if (i < k && right_.has(k) && left_.has(i))
        sweep::form_panel(true, diagonal(k), tile(i, k), left_.rows(i, 1, width(k)));
      if (i > k && left_.has(k) && right_.has(i))
        sweep::form_panel(false, diagonal(k), tile(k, i), right_.rows(i, 1, width(k)));
    });
  }

  /// To everyone the P_i of the rows and of the columns of its tiles. Those above block k are formed in one
  /// row of the grid and pass along its columns first, then along rows; the others the other way round.
  void pass_panels(std::int64_t k) {
    const std::int64_t end = blocks_.tiles();
    const auto row = static_cast<int>(k % grid_.rows());
    const auto col = static_cast<int>(k % grid_.cols());
    pass(grid_.col_from(row), blocks_at(0, k, {}, grid_.col()), left_, left_, k);
    pass(grid_.row_from(col), blocks_at(k + 1, end, grid_.row(), {}), right_, right_, k);
    for (int each = 0; each < grid_.cols(); ++each)
      pass(grid_.row_from(each), blocks_at(0, k, grid_.row(), each), left_, right_, k);
    for (int each = 0; each < grid_.rows(); ++each)
      pass(grid_.col_from(each), blocks_at(k + 1, end, each, grid_.col()), right_, left_, k);
    processes_.flush();
  }

  using Place = std::optional<int>;  ///< in the grid; none is any
  /// The blocks that lie in this row and column of the grid, as rows and as columns of tiles.
  [[nodiscard]] std::vector<std::int64_t> blocks_at(std::int64_t first, std::int64_t last, Place row,
                                                    Place col) const {
    std::vector<std::int64_t> blocks;
    for (std::int64_t i = first; i < last; ++i) {
      if ((!row || i % grid_.rows() == *row) && (!col || i % grid_.cols() == *col)) blocks.push_back(i);
    }
    return blocks;
  }

  /// From the first of these processes, which has them in `from`, to all of them.
  void pass(const std::vector<int>& ranks, const std::vector<std::int64_t>& blocks, SidePanel<T>& from,
            SidePanel<T>& to, std::int64_t k) {
    if (blocks.empty()) return;
    const bool sends = ranks.front() == processes_.rank();
    if (sends && &from != &to) {
      for (const std::int64_t i : blocks) sweep::copy(from.rows(i, 1, width(k)), to.rows(i, 1, width(k)));
    }
    if (ranks.size() == 1) return;
    std::string bytes;
    for (const std::int64_t i : blocks) {
      if (sends) append(from.rows(i, 1, width(k)), bytes);
    }
    const Bytes all = processes_.broadcast(shared_bytes(std::move(bytes)), ranks);
    const char* next = all->data();
    for (const std::int64_t i : blocks) {
      if (!sends) next = fill(to.rows(i, 1, width(k)), next);
    }
  }

  static void append(MatrixView<T> rows, std::string& bytes) {
    for (std::int64_t r = 0; r < rows.rows; ++r)
      bytes.append(reinterpret_cast<const char*>(rows.row(r).data()), rows.row(r).size_bytes());
  }
  /// Returns what follows.
  static const char* fill(MatrixView<T> rows, const char* from) {
    for (std::int64_t r = 0; r < rows.rows; ++r) {
      std::memcpy(rows.row(r).data(), from, rows.row(r).size_bytes());
      from += rows.row(r).size_bytes();
    }
    return from;
  }

  /// The tiles of this process other than those of block k.
  [[nodiscard]] std::vector<Strip> strips_of(std::int64_t k) const {
    std::vector<Strip> strips;
    for (std::int64_t i = left_.first; i < blocks_.tiles(); i += left_.step) {
      bool open = false;
      for (std::int64_t j = right_.first; j < blocks_.tiles() && i != k; j += right_.step) {
        // Not on both sides of k, where signs differ.
        const bool goes_on = open && (strips.back().j < k) == (j < k) && strips.back().count < strip_blocks;
        open = j >= i && j != k;
        if (!open) continue;
        if (goes_on)
          ++strips.back().count;
        else
          strips.push_back({i, j, 1});
      }
    }
    return strips;
  }

  void update(std::int64_t k) {
    const std::vector<Strip> strips = there_ ? std::vector<Strip>() : strips_of(k);
    for_each_tile(1 + std::ssize(strips), execution_.threads, [&](std::int64_t task) {
      if (task > 0) return add_products(strips[task - 1], k);
      if (!holds_diagonal(k)) return;
      inverted_ = dense::invert_factored(diagonal(k)) && inverted_;
      sweep::copy(diagonal(k), tile(k, k));
    });
    if (there_) there_->update(k, width(k));
  }

  void add_products(const Strip& strip, std::int64_t k) {
    const MatrixView<T> right = right_.rows(strip.j, strip.count, width(k));
    sweep::add_products(strip.j < k ? T{1} : T{-1}, strip.i == strip.j, left_.rows(strip.i, 1, width(k)),
                        right, tile(strip.i, strip.j, right.rows));
  }

  GridTiles<T>& tiles_;
  const ProcessGrid& grid_;
  Processes& processes_;
  const Execution& execution_;
  Tiling blocks_;
  SidePanel<T> left_;   ///< P_i for the rows of this process' tiles
  SidePanel<T> right_;  ///< P_j for their columns
  Matrix<T> diagonal_;
  std::optional<TilesThere<T>> there_;  ///< where the backend has memory of its own
  bool inverted_ = true;
};

}  // namespace

template <class T>
bool invert_tiles(GridTiles<T>& tiles, Processes& processes, const Execution& execution, Backend* backend) {
  const SerialBlas serial;
  return SpreadSweep<T>(tiles, processes, execution, backend).run();
}

template bool invert_tiles(GridTiles<float>&, Processes&, const Execution&, Backend*);
template bool invert_tiles(GridTiles<double>&, Processes&, const Execution&, Backend*);

}  // namespace poise
