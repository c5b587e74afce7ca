"""Tests with pytest (docs/simt_python.md): `pytest docs/examples/test_kernels.py`."""

# [doc:tests]
import numpy as np

REVERSE = r"""
template <bool kWaits>
__global__ void reverse(float* data) {
  __shared__ float tile[64];
  tile[threadIdx.x] = data[blockIdx.x * 64 + threadIdx.x];
  if (kWaits) __syncthreads();
  data[blockIdx.x * 64 + threadIdx.x] = tile[63 - threadIdx.x];
}
"""


def test_reverses(simt):
    module = simt.compile(REVERSE, names=["reverse<true>"])
    data = np.arange(256, dtype=np.float32)
    result = module["reverse<true>"][4, 64](data)  # a finding fails the test
    assert (data.reshape(4, 64)[:, 0] == [63, 127, 191, 255]).all()
    simt.assert_budget(result, global_load_sectors=32, shared_load_conflicts=0)


def test_needs_its_barrier(simt):
    module = simt.compile(REVERSE, names=["reverse<false>"])
    with simt.expect("race", "uninitialized_shared_read") as findings:
        module["reverse<false>"][4, 64](np.zeros(256, np.float32))
    assert findings[0].array == "tile"


# [/doc:tests]
