#pragma once
#error "<cuda_device_runtime_api.h> is outside the simulator's subset: a kernel cannot launch kernels here, launch them from the host"
