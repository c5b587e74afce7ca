"""The kernel of tiled_conv1d.cu in numba, for its CUDA simulator (NUMBA_ENABLE_CUDASIM=1).

Usage: tiled_conv1d_numba.py LENGTH LAUNCHES OUTPUT-FILE. Prints `seconds S` for each launch.
"""

import sys
import time

import numpy
from numba import cuda, float32

MASK_WIDTH = 9
THREADS = 256
TILE = THREADS + MASK_WIDTH - 1


@cuda.jit
def tiled_conv1d(N, mask, P, n):
    tile = cuda.shared.array(TILE, dtype=float32)
    t = cuda.threadIdx.x
    first = cuda.blockIdx.x * THREADS - MASK_WIDTH // 2
    for s in range(t, TILE, THREADS):
        k = first + s
        tile[s] = N[k] if k >= 0 and k < n else 0.0
    cuda.syncthreads()
    i = cuda.blockIdx.x * THREADS + t
    if i >= n:
        return
    acc = 0.0
    for j in range(MASK_WIDTH):
        acc += tile[t + j] * mask[j]
    P[i] = acc


def main():
    n, launches = int(sys.argv[1]), int(sys.argv[2])
    i = numpy.arange(n)
    N = cuda.to_device(((i * 7 + i // 11) % 17 - 3).astype(numpy.float32))
    mask = cuda.to_device(numpy.array([1, -2, 3, 5, -7, 4, 6, -1, 2], dtype=numpy.float32))
    P = cuda.to_device(numpy.zeros(n, dtype=numpy.float32))
    for _ in range(launches):
        start = time.monotonic()
        tiled_conv1d[(n + THREADS - 1) // THREADS, THREADS](N, mask, P, n)
        cuda.synchronize()
        print(f"seconds {time.monotonic() - start:.9f}", flush=True)
    P.copy_to_host().tofile(sys.argv[3])


main()
