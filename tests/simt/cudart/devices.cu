// Several devices: each has memory, variables, streams and a default stream of its own.
#include "expect.hpp"

__device__ int offset = 1;
__constant__ int factor = 2;
__managed__ int shared_count = 0;

__global__ void scale(int* data) {
  data[threadIdx.x] = data[threadIdx.x] * factor + offset;
  if (threadIdx.x == 0) atomicAdd(&shared_count, 1);
}
__global__ void add(int* to, const int* from) { to[threadIdx.x] += from[threadIdx.x]; }

static int first_of(const int* data) {
  int value = -1;
  cudaMemcpy(&value, data, sizeof value, cudaMemcpyDefault);
  return value;
}

static void properties() {
  int count = 0, current = -1, can = -1;
  expect_error(cudaGetDeviceCount(&count), cudaSuccess, __LINE__);
  expect(count == 2, "two devices", __LINE__);
  expect_error(cudaSetDevice(2), cudaErrorInvalidDevice, __LINE__);
  expect_error(cudaGetDevice(&current), cudaSuccess, __LINE__);
  expect(current == 0, "the first is chosen", __LINE__);
  cudaDeviceProp one{}, other{};
  cudaGetDeviceProperties(&one, 0);
  cudaGetDeviceProperties(&other, 1);
  expect(one.pciBusID != other.pciBusID, "each has a bus of its own", __LINE__);
  char bus[32];
  expect_error(cudaDeviceGetPCIBusId(bus, 4, 1), cudaErrorInvalidValue, __LINE__);
  expect_error(cudaDeviceGetPCIBusId(bus, sizeof bus, 1), cudaSuccess, __LINE__);
  expect_error(cudaDeviceGetByPCIBusId(&current, bus), cudaSuccess, __LINE__);
  for (const char* const its : {"0:1:0.0", "0000:01:00", "01:0.0"}) {
    current = -1;
    expect_error(cudaDeviceGetByPCIBusId(&current, its), cudaSuccess, __LINE__);
    expect(current == 1, its, __LINE__);
  }
  expect_error(cudaDeviceGetByPCIBusId(&current, "1"), cudaErrorInvalidValue, __LINE__);
  expect_error(cudaDeviceGetByPCIBusId(&current, "0:0:1.0"), cudaErrorInvalidDevice, __LINE__);
  current = 1;
  expect(current == 1, "which names it", __LINE__);
  expect_error(cudaDeviceCanAccessPeer(&can, 0, 1), cudaSuccess, __LINE__);
  expect(can == 1, "peers", __LINE__);
  expect_error(cudaDeviceGetP2PAttribute(&can, cudaDevP2PAttrNativeAtomicSupported, 1, 0),
               cudaSuccess, __LINE__);
  expect(can == 1, "atomics of peers", __LINE__);
}

static void variables(int* (&data)[2]) {
  for (int device = 0; device < 2; ++device) {
    cudaSetDevice(device);
    const int own = 10 * (device + 1);
    cudaMemcpyToSymbol(offset, &own, sizeof own);
    cudaMalloc(&data[device], 32 * sizeof(int));
    cudaMemset(data[device], 0, 32 * sizeof(int));
  }
  for (int device = 0; device < 2; ++device) {
    cudaSetDevice(device);
    scale<<<1, 32>>>(data[device]);
    expect_error(cudaDeviceSynchronize(), cudaSuccess, __LINE__);
    cudaPointerAttributes attributes;
    cudaPointerGetAttributes(&attributes, data[device]);
    expect(attributes.device == device, "memory is of its device", __LINE__);
  }
  expect(first_of(data[0]) == 10 && first_of(data[1]) == 20, "each has its own variables",
         __LINE__);
  expect(shared_count == 2, "managed ones are shared", __LINE__);
  std::size_t free_before = 0, free_now = 0, total = 0;
  cudaSetDevice(0);
  cudaMemGetInfo(&free_before, &total);
  cudaSetDevice(1);
  int* more;
  cudaMalloc(&more, 1 << 20);
  cudaSetDevice(0);
  cudaMemGetInfo(&free_now, &total);
  expect(free_now == free_before, "memory is counted by device", __LINE__);
}

// Peers do not matter to memory of a pool.
static void pools(int* own, bool is_opened) {
  cudaSetDevice(1);
  int* others = nullptr;
  expect_error(cudaMallocAsync(&others, 32 * sizeof(int), nullptr), cudaSuccess, __LINE__);
  cudaMemsetAsync(others, 0, 32 * sizeof(int), nullptr);
  expect_error(cudaDeviceSynchronize(), cudaSuccess, __LINE__);
  cudaMemPool_t pool;
  cudaDeviceGetDefaultMemPool(&pool, 1);
  cudaMemAccessDesc first = {};
  first.location.type = cudaMemLocationTypeDevice;
  first.flags = cudaMemAccessFlagsProtReadWrite;
  cudaMemAccessFlags flags = cudaMemAccessFlagsProtReadWrite;
  expect_error(cudaMemPoolGetAccess(&flags, pool, &first.location), cudaSuccess, __LINE__);
  expect(flags == cudaMemAccessFlagsProtNone, "a pool is its device's", __LINE__);
  if (is_opened) {
    expect_error(cudaMemPoolSetAccess(pool, &first, 1), cudaSuccess, __LINE__);
    expect_error(cudaMemPoolGetAccess(&flags, pool, &first.location), cudaSuccess, __LINE__);
    expect(flags == cudaMemAccessFlagsProtReadWrite, "until it is opened", __LINE__);
  }
  cudaSetDevice(0);
  if (!is_opened) cudaDeviceEnablePeerAccess(1, 0);
  add<<<1, 32>>>(own, others);
  expect_error(cudaDeviceSynchronize(), is_opened ? cudaSuccess : cudaErrorIllegalAddress,
               __LINE__);
}

static void copies_and_peers(int* (&data)[2]) {
  expect_error(cudaMemcpyPeer(data[0], 0, data[1], 1, 32 * sizeof(int)), cudaSuccess, __LINE__);
  expect(first_of(data[0]) == 20, "copied", __LINE__);
  cudaSetDevice(0);
  expect_error(cudaDeviceEnablePeerAccess(0, 0), cudaErrorPeerAccessUnsupported, __LINE__);
  expect_error(cudaDeviceDisablePeerAccess(1), cudaErrorPeerAccessNotEnabled, __LINE__);
  expect_error(cudaDeviceEnablePeerAccess(1, 0), cudaSuccess, __LINE__);
  expect_error(cudaDeviceEnablePeerAccess(1, 0), cudaErrorPeerAccessAlreadyEnabled, __LINE__);
  cudaGetLastError();
  add<<<1, 32>>>(data[0], data[1]);
  expect_error(cudaDeviceSynchronize(), cudaSuccess, __LINE__);
  expect(first_of(data[0]) == 40, "a kernel reads a peer's memory", __LINE__);
}

static void streams(int* (&data)[2]) {
  cudaStream_t first, second;
  cudaEvent_t event;
  cudaSetDevice(0);
  cudaStreamCreate(&first);
  cudaEventCreate(&event);
  cudaSetDevice(1);
  cudaStreamCreate(&second);
  int device = -1;
  expect_error(cudaStreamGetDevice(first, &device), cudaSuccess, __LINE__);
  expect(device == 0, "a stream is of its device", __LINE__);
  scale<<<1, 32, 0, first>>>(data[0]);
  expect_error(cudaGetLastError(), cudaErrorInvalidResourceHandle, __LINE__);
  expect_error(cudaEventRecord(event, second), cudaErrorInvalidResourceHandle, __LINE__);
  expect_error(cudaEventRecord(event, first), cudaSuccess, __LINE__);
  expect_error(cudaStreamWaitEvent(second, event), cudaSuccess, __LINE__);
  scale<<<1, 32, 0, second>>>(data[1]);
  expect_error(cudaStreamSynchronize(second), cudaSuccess, __LINE__);
  expect(first_of(data[1]) == 60, "it ran", __LINE__);
  expect_error(cudaDeviceReset(), cudaSuccess, __LINE__);
  expect_error(cudaStreamSynchronize(second), cudaErrorInvalidResourceHandle, __LINE__);
  cudaSetDevice(0);
  expect_error(cudaStreamSynchronize(first), cudaSuccess, __LINE__);
}

int main(int count, char**) {
  properties();
  int* data[2];
  variables(data);
  pools(data[0], count == 1);
  if (count > 1) return verdict();
  copies_and_peers(data);
  streams(data);
  return verdict();
}
