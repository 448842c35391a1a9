#pragma once

namespace poise {

/// float32 operations per second of one thread, in the processor time that it is given, so that other work on
/// the machine does not count.
struct KernelSpeed {
  double product;       ///< of a matrix product by BLAS
  double multiply_add;  ///< of nothing but multiplications and additions in registers, with the widest
                        ///< instructions of the processor: the most that a product could reach
};

/// Both are measured, as neither the frequency nor the number of units can be asked: some 15 ms.
KernelSpeed kernel_speed();

}  // namespace poise
