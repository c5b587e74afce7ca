// Threads of the operating system that run blocks.
#pragma once

#include <cstddef>
#include <functional>

namespace simt::cudart {

/// Calls work(0) here and work(1), ... on other threads, and returns when all have. Throws what one of them has thrown.
/// By one thread at a time.
void work_together(std::size_t workers, const std::function<void(std::size_t)>& work);

}  // namespace simt::cudart
