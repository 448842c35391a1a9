#pragma once

#include <cstdint>

namespace poise {

/// The machine's memory.
std::uint64_t machine_memory();

/// The memory this process may use: the machine's, or its control groups' limit if that is lower.
std::uint64_t total_memory();

/// The most memory this process has held so far.
std::uint64_t peak_memory();
/// From now on peak_memory() leaves out so many bytes more of this process' memory: other processes of the
/// host, which hold them too, count them.
void count_elsewhere(std::int64_t bytes);

/// From now on, allocations beyond `bytes` fail (std::bad_alloc), so that a run that is too large ends with
/// an error instead of being killed. Memory-mapped files and memory that is mapped already do not count.
void limit_memory(std::uint64_t bytes);

}  // namespace poise
