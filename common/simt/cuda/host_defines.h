// The keywords of CUDA C++ that a host compiler does not know. In a file that simcc translates, the
// translator needs to see most of them; in ordinary C++ they mean nothing, as in NVIDIA's header.
#pragma once
#define __HOST_DEFINES_H__

#define __forceinline__ inline __attribute__((always_inline))
#define __align__(n) __attribute__((aligned(n)))
#define __builtin_align__(n) __attribute__((aligned(n)))
#define __nv_pure__

#if defined(__CUDACC__)
// simcc stands for the compiler of this toolkit.
#ifndef __CUDACC_VER_MAJOR__
#define __CUDACC_VER_MAJOR__ 13
#define __CUDACC_VER_MINOR__ 0
#define __CUDACC_VER_BUILD__ 0
#endif
#define __CUDA_API_VER_MAJOR__ __CUDACC_VER_MAJOR__
#define __CUDA_API_VER_MINOR__ __CUDACC_VER_MINOR__
// Lambdas of the host may have __device__, as with nvcc's --extended-lambda.
#ifndef __CUDACC_EXTENDED_LAMBDA__
#define __CUDACC_EXTENDED_LAMBDA__
#endif
#else
#define __host__
#define __device__
#define __global__
#define __constant__
#define __shared__
#define __managed__
#define __grid_constant__
#define __launch_bounds__(...)
#define __cluster_dims__(...)
#endif

#define CUDARTAPI
#define CUDART_CB

// Every function of these headers that touches memory is inlined into its caller, so that the
// debug information of the access names the caller's line.
#define SIMT_INLINE inline __attribute__((always_inline))

// NVIDIA's C++ libraries (Thrust among them) look for headers such as <cuda_fp16.h> and would find
// the simulator's refusal.
#ifndef CCCL_DISABLE_FP16_SUPPORT
#define CCCL_DISABLE_FP16_SUPPORT
#endif
#ifndef CCCL_DISABLE_BF16_SUPPORT
#define CCCL_DISABLE_BF16_SUPPORT
#endif
#ifndef CCCL_DISABLE_FP8_SUPPORT
#define CCCL_DISABLE_FP8_SUPPORT
#endif
