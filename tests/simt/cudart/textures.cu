// Texture and surface objects: what each kind of image, filter and address mode reads. The values are a GPU's.
#include <cmath>
#include <cstdint>
#include <vector>

#include "expect.hpp"

static float* results = nullptr;  // managed

__global__ void read_1d(cudaTextureObject_t from, const float* at, float* to, int n) {
  if (threadIdx.x < n) to[threadIdx.x] = tex1D<float>(from, at[threadIdx.x]);
}
__global__ void read_2d(cudaTextureObject_t from, const float2* at, float* to, int n) {
  if (threadIdx.x < n) to[threadIdx.x] = tex2D<float>(from, at[threadIdx.x].x, at[threadIdx.x].y);
}
__global__ void fetch(cudaTextureObject_t from, float* to) {
  to[threadIdx.x] = tex1Dfetch<float>(from, static_cast<int>(threadIdx.x) - 1);
}
__global__ void read_others(cudaTextureObject_t volume, cudaTextureObject_t layers,
                            cudaTextureObject_t faces, cudaTextureObject_t bytes,
                            cudaTextureObject_t levels, float* to) {
  to[0] = tex3D<float>(volume, 1.5f, 2.5f, 3.5f);
  to[1] = tex3D<float>(volume, 2.0f, 2.5f, 3.0f);
  to[2] = tex2DLayered<float>(layers, 2.5f, 1.5f, 1);
  to[3] = tex2DLayered<float>(layers, 2.5f, 1.5f, 7);
  to[4] = texCubemap<float>(faces, 1, 0.1f, 0.1f);
  to[5] = texCubemap<float>(faces, 0.1f, -1, 0.1f);
  to[6] = texCubemap<float>(faces, 0.1f, 0.1f, -1);
  const uchar4 four = tex2D<uchar4>(bytes, 1, 1);
  to[7] = four.x + 1000 * four.w;
  to[8] = tex2DLod<float>(levels, 0.3f, 0.3f, 0);
  to[9] = tex2DLod<float>(levels, 0.3f, 0.3f, 1);
  to[10] = tex2DLod<float>(levels, 0.3f, 0.3f, 9);
}
__global__ void read_3d(cudaTextureObject_t from, float3 at, float* to) {
  *to = tex3D<float>(from, at.x, at.y, at.z);
}
__global__ void change(cudaSurfaceObject_t surface) {
  const int x = threadIdx.x, y = threadIdx.y;
  const float was = surf2Dread<float>(surface, x * 4, y);
  surf2Dwrite(10 * was, surface, x * 4, y);
  if (x == 0) surf2Dwrite(1e9f, surface, -4, y, cudaBoundaryModeZero);
  if (x == 0 && surf2Dread<float>(surface, 400, y, cudaBoundaryModeZero) != 0) __trap();
  if (x == 3 && surf2Dread<float>(surface, 400, y, cudaBoundaryModeClamp) == 0) __trap();
}
__global__ void write_outside(cudaSurfaceObject_t surface) { surf2Dwrite(1.0f, surface, 4096, 0); }

struct How {
  cudaTextureAddressMode outside = cudaAddressModeClamp;
  cudaTextureFilterMode filter = cudaFilterModePoint;
  bool is_normalised = false;
  cudaTextureReadMode values = cudaReadModeElementType;
};
static cudaTextureObject_t texture(const cudaResourceDesc& resource, const How& how) {
  cudaTextureDesc its = {};
  for (cudaTextureAddressMode& one : its.addressMode) one = how.outside;
  its.filterMode = how.filter;
  its.normalizedCoords = how.is_normalised;
  its.readMode = how.values;
  its.maxMipmapLevelClamp = 8;
  cudaTextureObject_t made = 0;
  expect_error(cudaCreateTextureObject(&made, &resource, &its, nullptr), cudaSuccess, __LINE__);
  return made;
}
static cudaResourceDesc of(cudaArray_t array) {
  cudaResourceDesc its = {};
  its.resType = cudaResourceTypeArray;
  its.res.array.array = array;
  return its;
}
// Texel (x, y, z) has 100 z + 10 y + x.
static cudaArray_t numbered(cudaExtent extent, unsigned flags = 0) {
  const auto format = cudaCreateChannelDesc<float>();
  cudaArray_t made = nullptr;
  expect_error(cudaMalloc3DArray(&made, &format, extent, flags), cudaSuccess, __LINE__);
  const std::size_t rows = extent.height ? extent.height : 1;
  const std::size_t planes = extent.depth ? extent.depth : 1;
  std::vector<float> values;
  for (std::size_t z = 0; z < planes; ++z) {
    for (std::size_t y = 0; y < rows; ++y) {
      for (std::size_t x = 0; x < extent.width; ++x) {
        values.push_back(static_cast<float>(100 * z + 10 * y + x));
      }
    }
  }
  cudaMemcpy3DParms copy = {};
  copy.srcPtr =
      make_cudaPitchedPtr(values.data(), extent.width * sizeof(float), extent.width, rows);
  copy.dstArray = made;
  copy.extent = {extent.width, rows, planes};
  copy.kind = cudaMemcpyHostToDevice;
  expect_error(cudaMemcpy3D(&copy), cudaSuccess, __LINE__);
  return made;
}

static void expect_along(int line, const How& how, const std::vector<float>& at,
                         const std::vector<float>& wanted) {
  cudaArray_t array = numbered({4, 0, 0});
  const cudaTextureObject_t from = texture(of(array), how);
  float* places;
  cudaMallocManaged(&places, at.size() * sizeof(float));
  for (std::size_t i = 0; i < at.size(); ++i) places[i] = at[i];
  read_1d<<<1, 32>>>(from, places, results, static_cast<int>(at.size()));
  expect_error(cudaDeviceSynchronize(), cudaSuccess, line);
  for (std::size_t i = 0; i < at.size(); ++i) {
    if (results[i] == wanted[i]) continue;
    std::printf("line %d: at %g there is %.9g, not %.9g\n", line, at[i], results[i], wanted[i]);
    ++failures;
  }
  expect_error(cudaDestroyTextureObject(from), cudaSuccess, line);
  expect_error(cudaFreeArray(array), cudaSuccess, line);
  cudaFree(places);
}

static void one_dimension() {
  expect_along(__LINE__, {}, {-5, 0, 0.99f, 1, 3.5f, 9}, {0, 0, 0, 1, 3, 3});
  expect_along(__LINE__, {.outside = cudaAddressModeBorder}, {-0.5f, 0, 3.9f, 4}, {0, 0, 3, 0});
  expect_along(__LINE__, {.outside = cudaAddressModeWrap}, {-1, 5}, {0, 3});
  expect_along(__LINE__, {.outside = cudaAddressModeWrap, .is_normalised = true},
               {-0.1f, 0.3f, 1.1f, 2.6f}, {3, 1, 0, 2});
  expect_along(__LINE__, {.outside = cudaAddressModeMirror, .is_normalised = true},
               {-0.1f, 0.3f, 1.1f, 1.6f}, {0, 1, 3, 1});
  expect_along(__LINE__, {.filter = cudaFilterModeLinear}, {0, 0.5f, 1, 1.25f, 2.001f, 3.9f},
               {0, 0, 0.5f, 0.75f, 1.5f, 3});
  expect_along(
      __LINE__,
      {.outside = cudaAddressModeWrap, .filter = cudaFilterModeLinear, .is_normalised = true},
      {0, 0.25f, 1}, {1.5f, 0.5f, 1.5f});
}

// Between two texels: so many of 256 parts towards the second. What an H200 answered, beyond what is nearest.
template <class T>
static void expect_between(int line, const cudaChannelFormatDesc& format,
                           const std::vector<T>& texels, int part, float wanted) {
  cudaArray_t array = nullptr;
  expect_error(cudaMallocArray(&array, &format, 2), cudaSuccess, line);
  expect_error(cudaMemcpy2DToArray(array, 0, 0, texels.data(), 2 * sizeof(T), 2 * sizeof(T), 1,
                                   cudaMemcpyHostToDevice),
               cudaSuccess, line);
  How how{.filter = cudaFilterModeLinear};
  if (sizeof(T) == 1) how.values = cudaReadModeNormalizedFloat;
  const cudaTextureObject_t from = texture(of(array), how);
  results[8] = 0.5f + static_cast<float>(part) / 256;
  read_1d<<<1, 1>>>(from, results + 8, results, 1);
  expect_error(cudaDeviceSynchronize(), cudaSuccess, line);
  expect(results[0] == wanted, "the sum is an H200's", line);
  expect_error(cudaDestroyTextureObject(from), cudaSuccess, line);
  expect_error(cudaFreeArray(array), cudaSuccess, line);
}
static void sums() {
  const auto floats = cudaCreateChannelDesc<float>(), halves = cudaCreateChannelDescHalf(),
             bytes = cudaCreateChannelDesc<signed char>();
  using Halves = std::vector<unsigned short>;  // their bits
  using Bytes = std::vector<signed char>;
  expect_between(__LINE__, floats, std::vector{126.533676f, 10966.084f}, 24, 0x1.1daf74p+10f);
  expect_between(__LINE__, floats, std::vector{33236698.0f, 18095.746f}, 244, 0x1.80931ap+20f);
  expect_between(__LINE__, halves, Halves{0x2452, 0x4a30}, 14, 0x1.628p-1f);
  expect_between(__LINE__, halves, Halves{0x4e58, 0x262c}, 215, 0x1.054p+2f);
  expect_between(__LINE__, bytes, Bytes{114, 47}, 35, 0x1.a6a74ep-1f);
  expect_between(__LINE__, bytes, Bytes{-36, 35}, 41, -0x1.8d331ap-3f);
  expect_between(__LINE__, bytes, Bytes{-128, -128}, 41, -1);
}

static void linear_memory() {
  float* memory;
  cudaMalloc(&memory, 8 * sizeof(float));
  const float values[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  cudaMemcpy(memory, values, sizeof values, cudaMemcpyHostToDevice);
  cudaResourceDesc its = {};
  its.resType = cudaResourceTypeLinear;
  its.res.linear = {memory, cudaCreateChannelDesc<float>(), sizeof values};
  const cudaTextureObject_t from = texture(its, {});
  fetch<<<1, 12>>>(from, results);
  cudaResourceViewDesc view;
  expect_error(cudaGetTextureObjectResourceViewDesc(&view, from), cudaSuccess, __LINE__);
  expect_error(cudaDeviceSynchronize(), cudaSuccess, __LINE__);
  expect(results[0] == 0 && results[1] == 1 && results[8] == 8 && results[9] == 0,
         "outside of linear memory there are zeros", __LINE__);
  cudaDestroyTextureObject(from);

  // Rows of three that lie four apart, of bytes that become fractions.
  unsigned char* bytes;
  std::size_t pitch = 0;
  cudaMallocPitch(&bytes, &pitch, 3, 2);
  const unsigned char rows[2][3] = {{0, 51, 255}, {102, 153, 204}};
  cudaMemcpy2D(bytes, pitch, rows, 3, 3, 2, cudaMemcpyHostToDevice);
  its = {};
  its.resType = cudaResourceTypePitch2D;
  its.res.pitch2D = {bytes, cudaCreateChannelDesc<unsigned char>(), 3, 2, pitch};
  const cudaTextureObject_t fractions =
      texture(its, {.filter = cudaFilterModeLinear, .values = cudaReadModeNormalizedFloat});
  float2* places;
  cudaMallocManaged(&places, 3 * sizeof(float2));
  places[0] = {2.5f, 0.5f}, places[1] = {1.5f, 1.5f}, places[2] = {2, 1};
  read_2d<<<1, 32>>>(fractions, places, results, 3);
  expect_error(cudaDeviceSynchronize(), cudaSuccess, __LINE__);
  expect(results[0] == 1, "255 is 1", __LINE__);
  expect(std::fabs(results[1] - 0.6f) < 1e-6f, "153 is 0.6", __LINE__);
  // A GPU's fractions have some ten bits here.
  expect(std::fabs(results[2] - 0.65f) < 2e-3f, "the mean of four", __LINE__);
  cudaDestroyTextureObject(fractions);
  cudaFree(bytes);
  cudaFree(memory);
  cudaFree(places);
}

static void other_images() {
  cudaArray_t volume = numbered({4, 4, 4});
  cudaArray_t layers = numbered({4, 4, 3}, cudaArrayLayered);
  cudaArray_t faces = numbered({2, 2, 6}, cudaArrayCubemap);
  cudaArray_t bytes = nullptr;
  const auto format = cudaCreateChannelDesc<uchar4>();
  const auto uneven = cudaCreateChannelDesc(32, 32, 32, 0, cudaChannelFormatKindFloat);
  expect_error(cudaMallocArray(&bytes, &uneven, 2, 2), cudaErrorInvalidChannelDescriptor, __LINE__);
  expect_error(cudaMallocArray(&bytes, &format, 1 << 20, 2), cudaErrorInvalidValue, __LINE__);
  cudaMallocArray(&bytes, &format, 2, 2);
  const unsigned char texels[2][8] = {{0, 0, 0, 0, 1, 1, 1, 1}, {2, 2, 2, 2, 33, 1, 1, 44}};
  cudaMemcpy2DToArray(bytes, 0, 0, texels, 8, 8, 2, cudaMemcpyHostToDevice);

  const auto floats = cudaCreateChannelDesc<float>();
  cudaMipmappedArray_t levels;
  expect_error(cudaMallocMipmappedArray(&levels, &floats, {4, 4, 0}, 3), cudaSuccess, __LINE__);
  for (unsigned i = 0; i < 3; ++i) {
    cudaArray_t level;
    cudaExtent extent;
    cudaGetMipmappedArrayLevel(&level, levels, i);
    cudaArrayGetInfo(nullptr, &extent, nullptr, level);
    expect(extent.width == 4u >> i, "each level is half as wide", __LINE__);
    const std::vector<float> values(16, static_cast<float>(i + 1));
    cudaMemcpy2DToArray(level, 0, 0, values.data(), extent.width * 4, extent.width * 4,
                        extent.height, cudaMemcpyHostToDevice);
  }
  cudaResourceDesc mipmap = {};
  mipmap.resType = cudaResourceTypeMipmappedArray;
  mipmap.res.mipmap.mipmap = levels;

  const cudaTextureObject_t all[] = {
      texture(of(volume), {.filter = cudaFilterModeLinear}), texture(of(layers), {}),
      texture(of(faces), {.is_normalised = true}), texture(of(bytes), {}),
      texture(mipmap, {.is_normalised = true})};
  read_others<<<1, 1>>>(all[0], all[1], all[2], all[3], all[4], results);
  expect_error(cudaDeviceSynchronize(), cudaSuccess, __LINE__);
  const float wanted[] = {321, 271.5f, 112, 212, 0, 300, 500, 44033, 1, 2, 3};
  for (int i = 0; i < 11; ++i) {
    const int got = static_cast<int>(results[i]);
    // Of a face only which one it is.
    const bool is_face = i >= 4 && i <= 6;
    if (is_face ? got / 100 * 100 == wanted[i] : results[i] == wanted[i]) continue;
    std::printf("value %d is %g, not %g\n", i, results[i], wanted[i]);
    ++failures;
  }
  for (const cudaTextureObject_t one : all) cudaDestroyTextureObject(one);
  for (cudaArray_t one : {volume, layers, faces, bytes}) cudaFreeArray(one);
  cudaFreeMipmappedArray(levels);
}

// Textures of three dimensions are deeper where they are less wide; a cubemap has six faces, unless it has layers.
static void extents() {
  const auto format = cudaCreateChannelDesc<float>();
  const auto expect_made = [&](int line, cudaExtent extent, unsigned flags, bool is_made) {
    cudaArray_t array = nullptr;
    expect_error(cudaMalloc3DArray(&array, &format, extent, flags),
                 is_made ? cudaSuccess : cudaErrorInvalidValue, line);
    if (array != nullptr) cudaFreeArray(array);
    cudaGetLastError();
  };
  expect_made(__LINE__, {4, 4, 20'000}, 0, true);
  expect_made(__LINE__, {16'384, 4, 4}, 0, true);
  expect_made(__LINE__, {8193, 4, 20'000}, 0, false);
  expect_made(__LINE__, {4, 4, 32'769}, 0, false);
  expect_made(__LINE__, {4, 4, 20'000}, cudaArraySurfaceLoadStore, false);
  expect_made(__LINE__, {4, 4, 12}, cudaArrayCubemap, false);
  expect_made(__LINE__, {32'769, 32'769, 6}, cudaArrayCubemap, false);
  expect_made(__LINE__, {4, 4, 2046}, cudaArrayCubemap | cudaArrayLayered, true);
  expect_made(__LINE__, {4, 4, 2052}, cudaArrayCubemap | cudaArrayLayered, false);
}

// What is read at (x, y, z), in 256 parts from the first towards the second texels, of two along each axis.
static float in_cube(const float (&values)[8], int x, int y, int z) {
  const auto format = cudaCreateChannelDesc<float>();
  cudaArray_t array = nullptr;
  expect_error(cudaMalloc3DArray(&array, &format, {2, 2, 2}), cudaSuccess, __LINE__);
  cudaMemcpy3DParms copy = {};
  copy.srcPtr = make_cudaPitchedPtr(const_cast<float*>(values), 2 * sizeof(float), 2, 2);
  copy.dstArray = array;
  copy.extent = {2, 2, 2};
  copy.kind = cudaMemcpyHostToDevice;
  expect_error(cudaMemcpy3D(&copy), cudaSuccess, __LINE__);
  const cudaTextureObject_t from = texture(of(array), {.filter = cudaFilterModeLinear});
  const auto part = [](int of) { return 0.5f + static_cast<float>(of) / 256; };
  read_3d<<<1, 1>>>(from, {part(x), part(y), part(z)}, results);
  expect_error(cudaDeviceSynchronize(), cudaSuccess, __LINE__);
  cudaDestroyTextureObject(from);
  cudaFreeArray(array);
  return results[0];
}
// Of two texels along each axis one is 1: what is read is how much it counts, in 256 parts.
static void weights() {
  const struct {
    int x, y, z;
    int wanted[8];
  } all[] = {{241, 50, 214, {2, 32, 0, 8, 10, 162, 3, 39}},
             {46, 128, 177, {33, 7, 32, 7, 73, 16, 72, 16}},
             {97, 248, 230, {1, 0, 15, 10, 4, 3, 139, 84}}};
  for (int corner = 0; corner < 8; ++corner) {
    float values[8] = {};
    values[corner] = 1;
    for (const auto& one : all) {
      expect(in_cube(values, one.x, one.y, one.z) * 256 == static_cast<float>(one.wanted[corner]),
             "an H200's weights", __LINE__);
    }
  }
  expect(in_cube({-2.024991750717163f, -1.927272081375122f, 68.5650405883789f, -7.480175495147705f,
                  -452.0444030761719f, 59.74088668823242f, 56.98884963989258f, 1.3263860940933228f},
                 228, 121, 173) == 0x1.abbac2p+1f,
         "an H200 adds up each plane", __LINE__);
}

static void surfaces() {
  cudaArray_t array = numbered({4, 4, 0}, cudaArraySurfaceLoadStore);
  const cudaResourceDesc its = of(array);
  cudaSurfaceObject_t surface = 0;
  expect_error(cudaCreateSurfaceObject(&surface, &its), cudaSuccess, __LINE__);
  change<<<1, dim3(4, 4)>>>(surface);
  expect_error(cudaDeviceSynchronize(), cudaSuccess, __LINE__);
  float got[16] = {};
  cudaMemcpy2DFromArray(got, 16, array, 0, 0, 16, 4, cudaMemcpyDeviceToHost);
  expect(got[0] == 0 && got[5] == 110 && got[15] == 330, "a surface is read and written", __LINE__);
  cudaDestroySurfaceObject(surface);
  cudaFreeArray(array);
}

int main(int argc, char**) {
  cudaMallocManaged(&results, 64 * sizeof(float));
  if (argc > 1) {
    cudaArray_t array = numbered({4, 4, 0}, cudaArraySurfaceLoadStore);
    const cudaResourceDesc its = of(array);
    cudaSurfaceObject_t surface = 0;
    cudaCreateSurfaceObject(&surface, &its);
    write_outside<<<1, 1>>>(surface);
    return cudaDeviceSynchronize() == cudaSuccess;
  }
  one_dimension();
  sums();
  linear_memory();
  other_images();
  extents();
  weights();
  surfaces();
  return verdict();
}
