// What host_side.cu offers to host_side_test.cpp.
#pragma once

#include <cuda_runtime.h>

namespace host_side {

void launch_greetings(int blocks, int threads);  // each thread prints "block b thread t" and a line
void launch_many_lines(int blocks, int lines);   // one thread a block: "line l of block b"
void launch_pieces();  // prints "one ", "and ", "two\n", then "three" without a line's end
void launch_add_one(int* cells, int count);  // blocks of 512
void launch_endless_loop();
void launch_failing_assert();  // assert(threadIdx.x < 3)
void launch_write_at(float* cells, int index);
extern const int allocating_line;
float* allocate_floats(int count);  // on line allocating_line

}  // namespace host_side
