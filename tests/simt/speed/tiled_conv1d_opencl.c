// The kernel of tiled_conv1d.cu in OpenCL, for Oclgrind.
// Usage: tiled_conv1d_opencl LENGTH LAUNCHES OUTPUT-FILE. Prints `seconds S` for each launch.
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static const char* const kSource =
    "#define MASK_WIDTH 9\n"
    "#define THREADS 256\n"
    "#define TILE (THREADS + MASK_WIDTH - 1)\n"
    "kernel void tiled_conv1d(global const float* N, constant float* mask, global float* P, int n) {\n"
    "  local float tile[TILE];\n"
    "  const int t = get_local_id(0);\n"
    "  const int first = get_group_id(0) * THREADS - MASK_WIDTH / 2;\n"
    "  for (int s = t; s < TILE; s += THREADS) {\n"
    "    const int k = first + s;\n"
    "    tile[s] = k >= 0 && k < n ? N[k] : 0.0f;\n"
    "  }\n"
    "  barrier(CLK_LOCAL_MEM_FENCE);\n"
    "  const int i = get_group_id(0) * THREADS + t;\n"
    "  if (i >= n) return;\n"
    "  float acc = 0;\n"
    "  for (int j = 0; j < MASK_WIDTH; ++j) acc += tile[t + j] * mask[j];\n"
    "  P[i] = acc;\n"
    "}\n";

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec + 1e-9 * time.tv_nsec;
}

static void must(cl_int error, const char* what) {
  if (error == CL_SUCCESS) return;
  fprintf(stderr, "%s: OpenCL error %d\n", what, error);
  exit(1);
}

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  const int n = atoi(argv[1]);
  const int launches = atoi(argv[2]);
  float mask[9] = {1, -2, 3, 5, -7, 4, 6, -1, 2};
  float* host = malloc(n * sizeof(float));
  for (int i = 0; i < n; ++i) host[i] = (i * 7 + i / 11) % 17 - 3;

  cl_int error;
  cl_platform_id platform;
  cl_device_id device;
  must(clGetPlatformIDs(1, &platform, NULL), "platform");
  must(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL), "device");
  cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
  must(error, "context");
  cl_command_queue queue = clCreateCommandQueue(context, device, 0, &error);
  must(error, "queue");
  const char* source = kSource;
  cl_program program = clCreateProgramWithSource(context, 1, &source, NULL, &error);
  must(error, "program");
  must(clBuildProgram(program, 1, &device, "", NULL, NULL), "build");
  cl_kernel kernel = clCreateKernel(program, "tiled_conv1d", &error);
  must(error, "kernel");
  const cl_mem_flags copy = CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR;
  cl_mem N = clCreateBuffer(context, copy, n * sizeof(float), host, &error);
  must(error, "N");
  cl_mem M = clCreateBuffer(context, copy, sizeof(mask), mask, &error);
  must(error, "mask");
  cl_mem P = clCreateBuffer(context, CL_MEM_WRITE_ONLY, n * sizeof(float), NULL, &error);
  must(error, "P");
  must(clSetKernelArg(kernel, 0, sizeof(N), &N), "argument");
  must(clSetKernelArg(kernel, 1, sizeof(M), &M), "argument");
  must(clSetKernelArg(kernel, 2, sizeof(P), &P), "argument");
  must(clSetKernelArg(kernel, 3, sizeof(n), &n), "argument");
  const size_t threads = 256;
  const size_t all = (n + threads - 1) / threads * threads;
  for (int l = 0; l < launches; ++l) {
    const double start = now();
    must(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &all, &threads, 0, NULL, NULL), "launch");
    must(clFinish(queue), "finish");
    printf("seconds %.9f\n", now() - start);
  }
  must(clEnqueueReadBuffer(queue, P, CL_TRUE, 0, n * sizeof(float), host, 0, NULL, NULL), "read");
  FILE* file = fopen(argv[3], "wb");
  if (!file || fwrite(host, sizeof(float), n, file) != (size_t)n) return 1;
  return fclose(file) == 0 ? 0 : 1;
}
