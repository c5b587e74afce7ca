#pragma once
#error "<cooperative_groups/scan.h> is outside the simulator's subset: it has no cooperative groups yet, use __syncthreads, __syncwarp(mask) and the _sync functions with threadIdx"
