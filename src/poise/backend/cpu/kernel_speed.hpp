#pragma once

namespace poise {

/// float32 operations per second of processor time of one thread, so that other work on the machine does not
/// count.
struct KernelSpeed {
  double product;       ///< of a matrix product by BLAS
  double multiply_add;  ///< of nothing but multiplications and additions in registers, with the widest
                        ///< instructions of the processor: the most that a product could reach
};

/// Measures both, because the processor reports neither its frequency nor its units: about 15 ms.
KernelSpeed kernel_speed();

}  // namespace poise
