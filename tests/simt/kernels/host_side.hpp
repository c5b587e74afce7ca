// What host_side.cu offers to host_side_test.cpp.
#pragma once

#include <cuda_runtime.h>

#include <vector>

namespace host_side {

void launch_greetings(int blocks, int threads);  // each thread prints "block b thread t" and a line
void launch_many_lines(int blocks, int lines);   // one thread a block: "line l of block b"
void launch_pieces();  // prints "one ", "and ", "two\n", then "three" without a line's end
void launch_add_one(int* cells, int count);  // blocks of 512
void launch_endless_loop();
void launch_failing_assert();  // assert(threadIdx.x < 3)
void launch_write_at(float* cells, int index);
// Gives the kernel a host array of each kind to read: 0 static in a function, 1 static const, 2 of a
// namespace, 3 a string, 4 on the heap, 5 on the stack, 6 the shadow of a __constant__ array. 7 gives it
// the address of that array, and a table and a string of the kernel's own are no host memory either.
void launch_reading_host_array(int kind);
// What cudaMemcpy from and to the name of a __constant__ array answers, cudaMemset of a __device__ one,
// then with addresses that were asked for, then with a __managed__ array.
std::vector<cudaError_t> copy_by_name();
// malloc and free, new and delete in a kernel; the heap holds `limit` bytes. How many of 20 objects of
// 16 bytes were made; and the sum of what was in them, of 1,000 and of the squares to 4,
// if there is room for more.
std::vector<int> use_the_heap(std::size_t limit);
void launch_use_after_free_of_heap();
void launch_free_twice();

extern const int allocating_line;
float* allocate_floats(int count);  // on line allocating_line

}  // namespace host_side
