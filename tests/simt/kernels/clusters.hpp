// The kernels of clusters.cu: thread block clusters that are right, and such that are not.
#pragma once

#include <vector>

namespace clusters {

// A kernel that is right: `run` returns true if its output is what it must be.
struct Case {
  const char* name;
  bool (*run)();
};
const std::vector<Case>& cases();

// A kernel of which one line, marked `COUNTED kind`, was read on an H200 with Nsight Compute
// (l1tex__t_requests_pipe_lsu_mem_dshared_op_ld and its kin, l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld).
struct Counted {
  const char* kind;  // load, store or atomic
  void (*run)();
  unsigned requests;    // of another block's shared memory
  unsigned sectors;     // and these
  unsigned wavefronts;  // of the block's own; of atomics the requests
};
const std::vector<Counted>& counted();

// A kernel with one mistake, in the line marked `BUG name` and, if it has a second party, `OTHER name`.
struct Bug {
  const char* name;
  const char* kind;
  bool has_other;
  const char* array;  // null: an allocation without a name
  void (*run)();
};
const std::vector<Bug>& bugs();

// Launches of a kernel that does nothing: what the runtime answers.
int launch(int blocks, int cluster_blocks);  // by the attribute
int launch_declared(int blocks,
                    int cluster_blocks);  // of a kernel with __cluster_dims__(2); 0: no attribute
int launch_large(int blocks, int cluster_blocks);  // of one that may have clusters of 16
int launch_cooperative();                          // with an attribute that there is not

// A grid of 12 blocks in clusters of 2 x 2: all write what they are. For run_only_blocks.
std::vector<float> who_ran();

// Clusters that overwrite each other's output.
void race_between_clusters();

}  // namespace clusters
