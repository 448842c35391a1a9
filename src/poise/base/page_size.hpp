#pragma once

#include <cstddef>
#include <functional>

namespace poise {

/// Seconds of processor time that it takes to write to a byte of memory that nothing has touched.
using FirstTouch = std::function<double(volatile char* byte)>;
double time_of_first_touch(volatile char* byte);

/// For memory that has been asked for in large pages and that nothing has touched: keeps large pages where
/// they are fast, and asks for small ones where they are not.
///
/// The system clears a page at its first touch, a large one of 2 MiB in a fifth of a millisecond. In a
/// virtual machine whose host takes free memory back, it takes 4: the host takes back large blocks alone and
/// has to find each 4 KiB of them again, while small pages come from the small blocks that the machine has
/// kept. So large pages are touched one after the other, and where one takes that long a part of the memory
/// gets small ones before the next is tried. Nothing but the speed depends on it.
void choose_page_size(void* memory, std::size_t bytes, const FirstTouch& touch = time_of_first_touch);

}  // namespace poise
