#pragma once
#error "<cub/block/block_shuffle.cuh> is outside the simulator's subset: it has no CUB yet, write the collective with shared memory and shuffles, or build this file with nvcc only"
