#pragma once
#error "<cub/device/device_run_length_encode.cuh> is outside the simulator's subset: of CUB it has BlockReduce and WarpReduce, write the collective with these, shared memory and shuffles, or build this file with nvcc only"
