#pragma once

#include <cstdint>

namespace poise {

/// The machine's memory.
std::uint64_t machine_memory();

/// The memory this process may use in all: the machine's, or its control groups' limit where that is lower.
std::uint64_t total_memory();

/// The most memory this process has held so far.
std::uint64_t peak_memory();

/// Makes allocations beyond `bytes` fail (std::bad_alloc) from now on, so that a run that is too large ends
/// with an error instead of being killed. Memory-mapped files do not count, nor does
/// what is mapped already.
void limit_memory(std::uint64_t bytes);

}  // namespace poise
