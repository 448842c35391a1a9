#include "poise/solver/pcg.hpp"

#include <utility>

#include "poise/backend/resident.hpp"
#include "poise/solver/running_systems.hpp"

namespace poise {

template <class T>
std::vector<PcgOutcome> pcg(LinearOperator<T>& H, LinearOperator<T>& M_inverse,
                            std::vector<std::int32_t> systems, MatrixView<T> x, MatrixView<T> r_block,
                            const StoppingRule& rule, const InnerProduct<T>& inner, Backend& backend,
                            Observer* observer) {
  const std::int64_t count = std::ssize(systems);
  RunningSystems running(std::move(systems), rule);
  Resident<T> p_block(backend, count, x.cols);
  Resident<T> Mp_block(backend, count, x.cols);
  Resident<T> z_block(backend, count, x.cols);  // M^-1 r, then, once p is made of it, H p
  std::vector<double> dots(count);
  std::vector<double> x_own(count);
  std::vector<double> z_own(count);
  const auto of_running = [&](MatrixView<T> block) { return block.block(0, running.size()); };
  const auto product = [&](MatrixView<T> a, MatrixView<T> b) {
    dots.resize(running.size());
    inner(a, b, dots);
    return std::span<const double>(dots);
  };

  while (running.size() > 0) {
    MatrixView<T> r = of_running(r_block);
    MatrixView<T> z = of_running(z_block.view());
    M_inverse.apply({running.systems(), r}, z);
    x_own.resize(running.size());
    z_own.resize(running.size());
    backend.get_entries(MatrixView<const T>(x), running.rows(), running.systems(), x_own);
    backend.get_entries(MatrixView<const T>(z), {}, running.systems(), z_own);
    running.test(product(r, z), x_own, z_own);
    running.compact({r_block, p_block.view(), Mp_block.view(), z_block.view()}, backend);
    if (running.size() == 0) break;

    r = of_running(r_block);
    z = of_running(z_block.view());
    const MatrixView<T> p = of_running(p_block.view());
    const MatrixView<T> Mp = of_running(Mp_block.view());
    backend.combine(std::vector<Term<T>>{{.x = z}, {.x = p, .rows = running.beta()}}, p);
    backend.combine(std::vector<Term<T>>{{.x = r}, {.x = Mp, .rows = running.beta()}}, Mp);
    const MatrixView<T> Hp = z;
    H.apply({running.systems(), p, Mp}, Hp);
    running.step(product(p, Hp));
    backend.add_rows(running.alpha(), MatrixView<const T>(p), x, running.rows());
    backend.combine(std::vector<Term<T>>{{.x = r}, {.x = Hp, .rows = running.minus_alpha()}}, r);
    running.compact({r_block, p_block.view(), Mp_block.view()}, backend);
    stop_if_asked(observer);
  }
  return running.outcomes();
}

template std::vector<PcgOutcome> pcg(LinearOperator<float>&, LinearOperator<float>&,
                                     std::vector<std::int32_t>, MatrixView<float>, MatrixView<float>,
                                     const StoppingRule&, const InnerProduct<float>&, Backend&, Observer*);
template std::vector<PcgOutcome> pcg(LinearOperator<double>&, LinearOperator<double>&,
                                     std::vector<std::int32_t>, MatrixView<double>, MatrixView<double>,
                                     const StoppingRule&, const InnerProduct<double>&, Backend&, Observer*);

}  // namespace poise
