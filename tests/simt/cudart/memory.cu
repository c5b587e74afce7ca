// Memory of every kind, and copies of every shape.
#include <sys/resource.h>

#include <cstring>
#include <vector>

#include "expect.hpp"

__constant__ int weights[4] = {1, 10, 100, 1000};
__constant__ float scale;
__device__ int total = 5;
__device__ int table[3] = {7, 8, 9};
__device__ int* second = &table[1];
__managed__ int managed_sum = 40;

__global__ void use_variables(int* out) {
  out[0] = weights[threadIdx.x % 4] + static_cast<int>(scale);
  out[1] = *second;
  total += 1;
  managed_sum += 2;
}
__global__ void fill(int* out, int n, int value) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = value + i;
}

static void freed_neighbours() {
  int* all[64];
  for (int i = 0; i < 64; ++i) {
    cudaMalloc(&all[i], sizeof(int));
    cudaMemcpy(all[i], &i, sizeof i, cudaMemcpyHostToDevice);
  }
  for (int i = 0; i < 64; i += 2) cudaFree(all[i]);
  for (int i = 1; i < 64; i += 2) {
    int got = 0;
    cudaMemcpy(&got, all[i], sizeof got, cudaMemcpyDeviceToHost);
    expect(got == i, "cudaFree leaves what lies beside it", __LINE__);
  }
}

// A list that is followed from one allocation to the next.
struct Link {
  int key;
  Link* next;
};
__global__ void follow(const Link* list, int times, int* key) {
  for (int i = 0; i < times; ++i) list = list->next;
  *key = list->key;
}

static void lists() {
  Link* first = nullptr;
  for (int key = 6; key >= 0; --key) {
    Link* made;
    cudaMallocManaged(&made, sizeof(Link));
    *made = {key, first};
    first = made;
  }
  int* key;
  cudaMallocManaged(&key, sizeof(int));
  follow<<<1, 1>>>(first, 6, key);
  expect_error(cudaDeviceSynchronize(), cudaSuccess, __LINE__);
  expect(*key == 6, "a list is followed to its end", __LINE__);
}

static void variables() {
  int* out;
  expect_error(cudaMalloc(&out, 2 * sizeof(int)), cudaSuccess, __LINE__);
  const float three = 3;
  expect_error(cudaMemcpyToSymbol(scale, &three, sizeof three), cudaSuccess, __LINE__);
  expect(managed_sum == 40, "a managed variable begins with its initial value", __LINE__);
  use_variables<<<1, 1>>>(out);
  expect_error(cudaDeviceSynchronize(), cudaSuccess, __LINE__);
  int got[2] = {};
  cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost);
  expect(got[0] == 4, "constants have their initial value and the copied one", __LINE__);
  expect(got[1] == 8, "a variable's initial value is another one's address", __LINE__);
  expect(managed_sum == 42, "the host reads what the kernel wrote", __LINE__);
  int value = 0;
  cudaMemcpyFromSymbol(&value, total, sizeof value);
  expect(value == 6, "a kernel changes a device variable", __LINE__);
  cudaMemcpyFromSymbol(&value, table, sizeof value, 2 * sizeof(int));
  expect(value == 9, "a copy from an offset in a symbol", __LINE__);
  void* address = nullptr;
  std::size_t bytes = 0;
  expect_error(cudaGetSymbolAddress(&address, weights), cudaSuccess, __LINE__);
  expect_error(cudaGetSymbolSize(&bytes, weights), cudaSuccess, __LINE__);
  expect(bytes == sizeof weights, "the size of a symbol", __LINE__);
  cudaMemcpy(&value, static_cast<int*>(address) + 3, sizeof value, cudaMemcpyDeviceToHost);
  expect(value == 1000, "constant memory by its address", __LINE__);
  cudaFree(out);
}

static void rows_and_planes() {
  constexpr std::size_t kWidth = 10, kHeight = 5, kDepth = 3;
  unsigned char from[kDepth][kHeight][kWidth], to[kDepth][kHeight][kWidth] = {};
  for (std::size_t i = 0; i < sizeof from; ++i) (&from[0][0][0])[i] = static_cast<unsigned char>(i);
  void* rows = nullptr;
  std::size_t pitch = 0;
  expect_error(cudaMallocPitch(&rows, &pitch, kWidth, kHeight), cudaSuccess, __LINE__);
  expect(pitch == 512, "rows begin at multiples of 512", __LINE__);
  cudaMemcpy2D(rows, pitch, from, kWidth, kWidth, kHeight, cudaMemcpyHostToDevice);
  cudaMemset2D(static_cast<char*>(rows) + pitch, pitch, 0xee, kWidth, 1);
  cudaMemcpy2D(to, kWidth, rows, pitch, kWidth, kHeight, cudaMemcpyDeviceToHost);
  expect(std::memcmp(from[0][0], to[0][0], kWidth) == 0, "the first row", __LINE__);
  expect(to[0][1][0] == 0xee && to[0][1][9] == 0xee, "the row that was set", __LINE__);
  expect(std::memcmp(from[0][2], to[0][2], 3 * kWidth) == 0, "the other rows", __LINE__);

  cudaPitchedPtr box;
  expect_error(cudaMalloc3D(&box, make_cudaExtent(kWidth, kHeight, kDepth)), cudaSuccess, __LINE__);
  cudaMemcpy3DParms copy{};
  copy.srcPtr = make_cudaPitchedPtr(from, kWidth, kWidth, kHeight);
  copy.dstPtr = box;
  copy.extent = make_cudaExtent(kWidth, kHeight, kDepth);
  copy.kind = cudaMemcpyHostToDevice;
  expect_error(cudaMemcpy3D(&copy), cudaSuccess, __LINE__);
  copy.srcPtr.ysize = kHeight - 1;
  expect_error(cudaMemcpy3D(&copy), cudaErrorInvalidPitchValue, __LINE__);
  copy.extent.depth = 1;
  expect_error(cudaMemcpy3D(&copy), cudaErrorInvalidValue, __LINE__);
  std::memset(to, 0, sizeof to);
  cudaMemcpy3DParms back{};
  back.srcPtr = box;
  back.srcPos = make_cudaPos(2, 1, 1);
  back.dstPtr = make_cudaPitchedPtr(to, kWidth, kWidth, kHeight);
  back.extent = make_cudaExtent(4, 2, 2);
  back.kind = cudaMemcpyDeviceToHost;
  expect_error(cudaMemcpy3D(&back), cudaSuccess, __LINE__);
  expect(to[0][0][0] == from[1][1][2] && to[1][1][3] == from[2][2][5], "a part of a box", __LINE__);
  expect(to[0][0][4] == 0 && to[0][2][0] == 0 && to[2][0][0] == 0, "and no more", __LINE__);
  cudaFree(rows);
  cudaFree(box.ptr);
}

static void several_copies_by_one_call() {
  constexpr int kCount = 8;
  int host[2][kCount], back[2][kCount] = {};
  for (int i = 0; i < 2 * kCount; ++i) host[0][i] = i;
  int* device = nullptr;
  cudaMalloc(&device, sizeof host);
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  void* to[] = {device + kCount, device};
  const void* from[] = {host[0], host[1]};
  std::size_t sizes[] = {sizeof host[0], sizeof host[1]}, first[] = {0};
  cudaMemcpyAttributes how = {};
  how.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
  expect_error(cudaMemcpyBatchAsync(to, from, sizes, 2, &how, first, 1, stream), cudaSuccess,
               __LINE__);
  cudaMemcpyAsync(back, device, sizeof back, cudaMemcpyDeviceToHost, stream);
  cudaStreamSynchronize(stream);
  expect(back[0][0] == kCount && back[1][kCount - 1] == kCount - 1, "both copies", __LINE__);
  expect_error(cudaMemcpyBatchAsync(to, from, sizes, 2, &how, first, 0, stream),
               cudaErrorInvalidValue, __LINE__);
  cudaStreamDestroy(stream);
  cudaFree(device);
}

static void memory_of_both() {
  constexpr int kCount = 100;
  int *managed, *pinned;
  expect_error(cudaMallocManaged(&managed, kCount * sizeof(int)), cudaSuccess, __LINE__);
  expect_error(cudaMallocHost(&pinned, kCount * sizeof(int)), cudaSuccess, __LINE__);
  std::vector<int> own(kCount, 0);
  expect_error(cudaHostRegister(own.data(), kCount * sizeof(int), 0), cudaSuccess, __LINE__);
  int* registered = nullptr;
  expect_error(cudaHostGetDevicePointer(&registered, own.data(), 0), cudaSuccess, __LINE__);
  fill<<<1, 128>>>(managed, kCount, 1);
  fill<<<1, 128>>>(pinned, kCount, 2);
  fill<<<1, 128>>>(registered, kCount, 3);
  expect_error(cudaDeviceSynchronize(), cudaSuccess, __LINE__);
  expect(managed[99] == 100 && pinned[99] == 101 && own[99] == 102, "kernels write it", __LINE__);
  int value = 0;
  cudaMemcpy(&value, managed + 1, sizeof value, cudaMemcpyDefault);
  expect(value == 2, "the kind of a copy by its addresses", __LINE__);
  cudaPointerAttributes what{};
  cudaPointerGetAttributes(&what, managed + 5);
  expect(what.type == cudaMemoryTypeManaged, "what a managed pointer is", __LINE__);
  cudaPointerGetAttributes(&what, pinned);
  expect(what.type == cudaMemoryTypeHost, "what a pinned pointer is", __LINE__);
  cudaPointerGetAttributes(&what, &value);
  expect(what.type == cudaMemoryTypeUnregistered, "what a pointer to the stack is", __LINE__);
  expect_error(cudaHostUnregister(own.data()), cudaSuccess, __LINE__);
  for (int* const other : {managed, static_cast<int*>(nullptr)}) {
    expect_error(cudaHostUnregister(other), cudaErrorInvalidValue, __LINE__);
  }
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  expect_error(cudaStreamAttachMemAsync(stream, managed), cudaSuccess, __LINE__);
  expect_error(cudaStreamAttachMemAsync(stream, own.data()), cudaErrorInvalidValue, __LINE__);
  expect_error(cudaStreamAttachMemAsync(nullptr, managed), cudaErrorInvalidValue, __LINE__);
  cudaStreamDestroy(stream);
  expect_error(cudaHostUnregister(own.data()), cudaErrorHostMemoryNotRegistered, __LINE__);
  cudaFree(managed);
  cudaFreeHost(pinned);
  for (const unsigned asked :
       {cudaHostAllocDefault, cudaHostAllocPortable | cudaHostAllocWriteCombined}) {
    unsigned flags = 0;
    expect_error(cudaHostAlloc(&pinned, sizeof(int), asked), cudaSuccess, __LINE__);
    expect_error(cudaHostGetFlags(&flags, pinned), cudaSuccess, __LINE__);
    expect(flags == (asked | cudaHostAllocMapped), "it has the flags that were asked for",
           __LINE__);
    cudaFreeHost(pinned);
  }
}

static void pools_and_streams() {
  cudaStream_t stream;
  cudaEvent_t begin, end;
  cudaStreamCreate(&stream);
  cudaEventCreate(&begin);
  cudaEventCreate(&end);
  int* memory;
  expect_error(cudaMallocAsync(&memory, 64 * sizeof(int), stream), cudaSuccess, __LINE__);
  cudaEventRecord(begin, stream);
  fill<<<1, 64, 0, stream>>>(memory, 64, 9);
  cudaEventRecord(end, stream);
  int got[64] = {};
  cudaMemcpyAsync(got, memory, sizeof got, cudaMemcpyDeviceToHost, stream);
  expect_error(cudaFreeAsync(memory, stream), cudaSuccess, __LINE__);
  expect_error(cudaStreamSynchronize(stream), cudaSuccess, __LINE__);
  expect(got[63] == 72, "work of a stream is done in its order", __LINE__);
  float milliseconds = -1;
  expect_error(cudaEventElapsedTime(&milliseconds, begin, end), cudaSuccess, __LINE__);
  expect(milliseconds >= 0, "time goes on", __LINE__);
  cudaStreamDestroy(stream);
  if (is_simulated()) {
    expect_error(cudaStreamSynchronize(stream), cudaErrorInvalidResourceHandle, __LINE__);
  }
}

static unsigned long long pool_bytes(cudaMemPool_t pool, cudaMemPoolAttr attribute) {
  unsigned long long bytes = ~0ull;
  expect_error(cudaMemPoolGetAttribute(pool, attribute, &bytes), cudaSuccess, __LINE__);
  return bytes;
}

// A pool knows what was taken of it, not what others gave.
static void usage_of_pools() {
  constexpr auto used = cudaMemPoolAttrUsedMemCurrent, most = cudaMemPoolAttrUsedMemHigh,
                 kept = cudaMemPoolAttrReservedMemCurrent;
  cudaMemPoolProps properties{};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location.type = cudaMemLocationTypeDevice;
  cudaMemPool_t first, own, now;
  void *other, *one, *two;
  cudaMalloc(&other, 1000);
  cudaDeviceGetDefaultMemPool(&first, 0);
  expect_error(cudaMemPoolCreate(&own, &properties), cudaSuccess, __LINE__);
  cudaMallocAsync(&one, 64, nullptr);
  cudaMallocFromPoolAsync(&two, 128, own, nullptr);
  expect(pool_bytes(first, used) == 64 && pool_bytes(own, used) == 128, "what is taken", __LINE__);
  expect_error(cudaDeviceSetMemPool(0, own), cudaSuccess, __LINE__);
  cudaDeviceGetMemPool(&now, 0);
  expect(now == own, "the pool that was chosen", __LINE__);
  unsigned long long all = ~0ull, none = 0;
  cudaMemPoolSetAttribute(own, cudaMemPoolAttrReleaseThreshold, &all);
  cudaFreeAsync(one, nullptr);
  cudaFree(two);
  cudaMallocAsync(&one, 32, nullptr);
  expect(pool_bytes(first, used) == 0 && pool_bytes(own, used) == 32, "and given back", __LINE__);
  expect(pool_bytes(own, most) == 128, "the most that was taken", __LINE__);
  expect_error(cudaMemPoolSetAttribute(own, most, &none), cudaSuccess, __LINE__);
  expect(pool_bytes(own, most) == 32, "which may be forgotten", __LINE__);
  cudaFree(one);
  expect(pool_bytes(own, kept) > 0 && pool_bytes(first, kept) == 0, "kept by one alone", __LINE__);
  cudaMemPoolTrimTo(own, 0);
  expect(pool_bytes(own, kept) == 0, "and trimmed", __LINE__);
  expect_error(cudaMemPoolDestroy(own), cudaSuccess, __LINE__);
  cudaDeviceGetMemPool(&now, 0);
  expect(now == first, "the default pool again", __LINE__);
  cudaFree(other);

  // A reset leaves nothing of a device's memory.
  cudaMemPoolCreate(&own, &properties);
  cudaDeviceSetMemPool(0, own);
  cudaMallocAsync(&one, 64, nullptr);
  cudaMallocFromPoolAsync(&two, 64, first, nullptr);
  cudaDeviceReset();
  cudaDeviceGetMemPool(&now, 0);
  expect(now == first && pool_bytes(first, used) == 0 && pool_bytes(first, most) == 0, "forgotten",
         __LINE__);
  expect_error(cudaMemPoolTrimTo(own, 0), cudaErrorInvalidValue, __LINE__);
}

// What the program last said of whole pages, and what their parts have in common.
static void advice() {
  constexpr size_t kPage = 4096, kBytes = 4 * kPage;
  char* memory;
  cudaMallocManaged(&memory, kBytes + kPage);
  char* const cells = memory + (kPage - reinterpret_cast<size_t>(memory) % kPage) % kPage;
  const cudaMemLocation device{cudaMemLocationTypeDevice, 0}, host{cudaMemLocationTypeHost, 7};
  const auto told = [&](cudaMemRangeAttribute attribute, size_t bytes) {
    int value = -9;
    expect_error(cudaMemRangeGetAttribute(&value, sizeof value, attribute, cells, bytes),
                 cudaSuccess, __LINE__);
    return value;
  };
  expect(told(cudaMemRangeAttributePreferredLocation, kBytes) == cudaInvalidDeviceId,
         "no place yet", __LINE__);
  cudaMemAdvise(cells + 5, 1, cudaMemAdviseSetReadMostly, device);
  cudaMemAdvise(cells, kBytes, cudaMemAdviseSetPreferredLocation, host);
  cudaMemAdvise(cells, kBytes, cudaMemAdviseSetAccessedBy, device);
  cudaMemAdvise(cells, kBytes, cudaMemAdviseSetAccessedBy, host);
  cudaMemAdvise(cells + kPage, 1, cudaMemAdviseUnsetAccessedBy, host);
  expect(told(cudaMemRangeAttributeReadMostly, kPage) == 1, "a page", __LINE__);
  expect(told(cudaMemRangeAttributeReadMostly, kPage + 1) == 0, "and the next", __LINE__);
  expect(told(cudaMemRangeAttributePreferredLocation, kBytes) == cudaCpuDeviceId, "CPU", __LINE__);
  expect(told(cudaMemRangeAttributePreferredLocationType, kBytes) == cudaMemLocationTypeHost,
         "its type", __LINE__);
  int users[3];
  cudaMemRangeGetAttribute(users, sizeof users, cudaMemRangeAttributeAccessedBy, cells, kBytes);
  expect(users[0] == 0 && users[1] == cudaInvalidDeviceId && users[2] == cudaInvalidDeviceId,
         "who uses all pages", __LINE__);

  cudaStream_t stream;
  cudaStreamCreate(&stream);
  void* parts[] = {cells, cells + kPage, cells + 2 * kPage};
  size_t sizes[] = {kPage, kPage, kPage}, first[] = {0, 2};
  cudaMemLocation places[] = {device, host};
  expect_error(cudaMemPrefetchBatchAsync(parts, sizes, 3, places, first, 2, 0, stream), cudaSuccess,
               __LINE__);
  expect(told(cudaMemRangeAttributeLastPrefetchLocation, 2 * kPage) == 0, "two pages", __LINE__);
  expect(told(cudaMemRangeAttributeLastPrefetchLocation, 3 * kPage) == cudaInvalidDeviceId,
         "a third elsewhere", __LINE__);
  cells[0] = cells[kPage] = 5;
  expect_error(cudaMemDiscardBatchAsync(parts, sizes, 1, 0, stream), cudaSuccess, __LINE__);
  cudaStreamSynchronize(stream);
  expect(!(is_simulated() && cells[0] == 5) && cells[kPage] == 5, "what is discarded means nothing",
         __LINE__);
  expect_error(cudaMemDiscardAndPrefetchBatchAsync(parts, sizes, 3, places, first, 1, 0, stream),
               cudaSuccess, __LINE__);
  cudaStreamSynchronize(stream);
  expect(told(cudaMemRangeAttributeLastPrefetchLocationId, 3 * kPage) == 0, "together", __LINE__);

  first[1] = 0;
  expect_error(cudaMemPrefetchBatchAsync(parts, sizes, 3, places, first, 2, 0, stream), cudaSuccess,
               __LINE__);
  first[1] = 3;
  expect_error(cudaMemPrefetchBatchAsync(parts, sizes, 3, places, first, 2, 0, stream),
               cudaErrorInvalidValue, __LINE__);
  expect_error(cudaMemDiscardBatchAsync(parts, sizes, 1, 0, cudaStreamLegacy),
               cudaErrorInvalidValue, __LINE__);
  expect_error(cudaMemRangeGetAttribute(users, 8, cudaMemRangeAttributeReadMostly, cells, 1),
               cudaErrorInvalidValue, __LINE__);
  expect_error(cudaMemRangeGetAttribute(users, 4, cudaMemRangeAttributeReadMostly, users, 1),
               cudaErrorInvalidValue, __LINE__);
  expect_error(cudaMemPrefetchAsync(cells, 1, {cudaMemLocationTypeDevice, 9}, 0),
               cudaErrorInvalidDevice, __LINE__);
  cudaStreamDestroy(stream);
  cudaFree(memory);
}

// A handle for other processes leads to the memory in the process that made it.
static void handles() {
  int *memory, *same = nullptr;
  cudaIpcMemHandle_t handle;
  cudaMalloc(&memory, 64);
  expect_error(cudaIpcGetMemHandle(&handle, memory), cudaSuccess, __LINE__);
  expect_error(cudaIpcGetMemHandle(&handle, &same), cudaErrorInvalidValue, __LINE__);
  expect_error(
      cudaIpcOpenMemHandle(reinterpret_cast<void**>(&same), handle, cudaIpcMemLazyEnablePeerAccess),
      cudaSuccess, __LINE__);
  expect(same == memory, "the same memory", __LINE__);
  expect_error(cudaIpcCloseMemHandle(same), cudaSuccess, __LINE__);
  cudaFree(memory);
  cudaGetLastError();
}

// Managed memory is there where the device has none left.
static void more_than_the_device_has() {
  std::size_t left = 0, all = 0;
  cudaMemGetInfo(&left, &all);
  void* most = nullptr;
  int* managed = nullptr;
  expect_error(cudaMalloc(&most, left - (1 << 20)), cudaSuccess, __LINE__);
  expect_error(cudaMallocManaged(&managed, 2 << 20), cudaSuccess, __LINE__);
  fill<<<1, 32>>>(managed, 32, 7);
  expect_error(cudaDeviceSynchronize(), cudaSuccess, __LINE__);
  expect(managed[31] == 38, "more memory than the device has", __LINE__);
  void* none = nullptr;
  if (is_simulated()) {
    expect_error(cudaMalloc(&none, 2 << 20), cudaErrorMemoryAllocation, __LINE__);
  }
  cudaGetLastError();
  cudaFree(managed);
  cudaFree(most);
}

// What nobody touches of managed memory costs nothing, however much it is, and all of it is given back.
static void twice_the_device() {
  constexpr std::size_t kBytes = std::size_t{300} << 30, kEnd = kBytes / sizeof(int);
  for (int i = 0; i < 5; ++i) {
    int* managed = nullptr;
    expect_error(cudaMallocManaged(&managed, kBytes), cudaSuccess, __LINE__);
    if (managed == nullptr) return;
    managed[kEnd / 2] = 4;
    fill<<<1, 32>>>(managed + kEnd - 32, 32, 7);
    fill<<<1, 1>>>(managed + kEnd / 2 + 1, 1, managed[kEnd / 2] + managed[5]);
    expect_error(cudaDeviceSynchronize(), cudaSuccess, __LINE__);
    expect(managed[kEnd - 1] == 38 && managed[kEnd / 2 + 1] == 4, "both sides touch it", __LINE__);
    expect_error(cudaFree(managed), cudaSuccess, __LINE__);
  }
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  expect(used.ru_maxrss < 1 << 20, "less than 1 GiB is used", __LINE__);
  // Not even a limit on the size of files is one on memory that the device would hold.
  void* none = nullptr;
  rlimit before{}, little{};
  getrlimit(RLIMIT_FSIZE, &before);
  little = {4096, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &little);
  expect_error(cudaMallocManaged(&none, std::size_t{256} << 20), cudaSuccess, __LINE__);
  expect_error(cudaFree(none), cudaSuccess, __LINE__);
  expect_error(cudaMallocManaged(&none, kBytes), cudaErrorMemoryAllocation, __LINE__);
  setrlimit(RLIMIT_FSIZE, &before);
  expect_error(cudaMallocManaged(&none, std::size_t{1} << 42), cudaErrorMemoryAllocation, __LINE__);
  cudaGetLastError();
}

// Row by row, from one array to another.
#pragma nv_diag_suppress 1444
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
static void array_to_array() {
  constexpr std::size_t kRow = 4 * sizeof(int);
  const auto format = cudaCreateChannelDesc<int>();
  cudaArray_t from = nullptr, to = nullptr;
  cudaMallocArray(&from, &format, 4, 2);
  cudaMallocArray(&to, &format, 4, 2);
  const int values[8] = {1, 2, 3, 4, 5, 6, 7, 8}, zeros[8] = {};
  int got[8] = {};
  cudaMemcpy2DToArray(from, 0, 0, values, kRow, kRow, 2, cudaMemcpyHostToDevice);
  cudaMemcpy2DToArray(to, 0, 0, zeros, kRow, kRow, 2, cudaMemcpyHostToDevice);
  expect_error(cudaMemcpyArrayToArray(to, 0, 1, from, 2 * sizeof(int), 0, 3 * sizeof(int),
                                      cudaMemcpyDeviceToDevice),
               cudaSuccess, __LINE__);
  cudaMemcpy2DFromArray(got, kRow, to, 0, 0, kRow, 2, cudaMemcpyDeviceToHost);
  const int wanted[8] = {0, 0, 0, 0, 3, 4, 5, 0};
  expect(std::memcmp(got, wanted, sizeof got) == 0, "an array is copied to another", __LINE__);
  expect_error(cudaMemcpyArrayToArray(to, 0, 0, nullptr, 0, 0, 4, cudaMemcpyDeviceToDevice),
               cudaErrorInvalidResourceHandle, __LINE__);
  cudaFreeArray(from);
  cudaFreeArray(to);
}
#pragma nv_diag_default 1444

int main() {
  variables();
  lists();
  freed_neighbours();
  rows_and_planes();
  several_copies_by_one_call();
  memory_of_both();
  more_than_the_device_has();
  array_to_array();
  advice();
  pools_and_streams();
  if (is_simulated()) {
    twice_the_device();
    usage_of_pools();
    handles();
  }
  return verdict();
}
