#pragma once
#error "<cub/device/device_segmented_radix_sort.cuh> is outside the simulator's subset: of CUB it has BlockReduce and WarpReduce, write the collective with these, shared memory and shuffles, or build this file with nvcc only"
