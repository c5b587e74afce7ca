#pragma once
#error "<cub/warp/warp_merge_sort.cuh> is outside the simulator's subset: of CUB it has BlockReduce and WarpReduce, write the collective with these, shared memory and shuffles, or build this file with nvcc only"
