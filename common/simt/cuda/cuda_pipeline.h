// Stands in for NVIDIA's <cuda_pipeline.h>. Of its two interfaces the simulator has the primitives;
// nvcuda::experimental::pipeline is outside the subset.
#pragma once

#include "cuda_pipeline_primitives.h"
