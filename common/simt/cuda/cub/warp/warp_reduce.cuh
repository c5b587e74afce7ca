#pragma once
#error "<cub/warp/warp_reduce.cuh> is outside the simulator's subset: it has no CUB yet, write the collective with shared memory and shuffles, or build this file with nvcc only"
