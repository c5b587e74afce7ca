#pragma once
#error "<cooperative_groups/memcpy_async.h> is outside the simulator's subset: of asynchronous copies it has the primitives of <cuda_pipeline.h>, use __pipeline_memcpy_async, __pipeline_wait_prior and __syncthreads"
