// A kernel that is compiled while the program runs, for one GPU. Five threads write to four numbers.
#include <cuda.h>
#include <nvrtc.h>

#include <cstdio>
#include <vector>

int main() {
  const char* const source =
      "extern \"C\" __global__ void count(int* data) {\n"
      "  const int i = threadIdx.x;\n"
      "  data[i] = i;\n"
      "}\n";
  nvrtcProgram program;
  nvrtcCreateProgram(&program, source, "written.cu", 0, nullptr, nullptr);
  const char* const options[] = {"--gpu-architecture=sm_90"};
  if (nvrtcCompileProgram(program, 1, options) != NVRTC_SUCCESS) return 1;
  std::size_t bytes = 0;
  nvrtcGetCUBINSize(program, &bytes);
  std::vector<char> image(bytes);
  nvrtcGetCUBIN(program, image.data());
  CUcontext context;
  CUmodule module;
  CUfunction count;
  CUdeviceptr data = 0;
  int numbers[4] = {};
  cuInit(0);
  cuCtxCreate(&context, nullptr, 0, 0);
  cuModuleLoadData(&module, image.data());
  cuModuleGetFunction(&count, module, "count");
  cuMemAlloc(&data, sizeof numbers);
  void* arguments[] = {&data};
  cuLaunchKernel(count, 1, 1, 1, 4, 1, 1, 0, nullptr, arguments, nullptr);
  cuMemcpyDtoH(numbers, data, sizeof numbers);
  std::printf("%d %d %d %d\n", numbers[0], numbers[1], numbers[2], numbers[3]);
  cuLaunchKernel(count, 1, 1, 1, 5, 1, 1, 0, nullptr, arguments, nullptr);
  cuCtxSynchronize();
}
