// The kernels of sends.cu: stores that arrive at a barrier in shared memory, right and not right.
#pragma once

#include <vector>

namespace sends {

// A kernel that is right: `run` returns true if its output is what it must be.
struct Case {
  const char* name;
  bool (*run)();
};
const std::vector<Case>& cases();

// A kernel that was read on an H200 with Nsight Compute.
struct Counted {
  const char* name;
  bool (*run)();
  // l1tex__t_requests_pipe_lsu_mem_dshared_op_st and its sectors: the block's own memory is not set apart.
  unsigned requests, sectors;
};
const std::vector<Counted>& counted();

// A kernel with one mistake, in the line marked `BUG name` and, if it has a second party, `OTHER name`.
struct Bug {
  const char* name;
  const char* kind;
  bool has_other;
  const char* array;
  void (*run)();
};
const std::vector<Bug>& bugs();

// A block sends to another that may not have begun, nor set up its barrier.
void send_before_it_begins();

}  // namespace sends
