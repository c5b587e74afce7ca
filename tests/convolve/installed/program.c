/* A layer with a bias and ReLU, on a second stream and as a CUDA graph, against its definition. */
#include <halo/convolve.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  C = 5,
  H = 9,
  W = 7,
  K = 6,
  N = 2,
  INPUT = N * C * H * W,
  FILTERS = K * C * 9,
  OUTPUT = N * K * H * W
};

static float input[INPUT], filters[FILTERS], bias[K], output[OUTPUT], again[OUTPUT];

static void need(int good, const char* what) {
  if (good) return;
  printf("failed: %s: %s, %s\n", what, halo_convolve_last_error(),
         cudaGetErrorString(cudaGetLastError()));
  exit(1);
}

static void says(int status, int wanted, const char* words) {
  if (status == wanted && strstr(halo_convolve_last_error(), words) != NULL &&
      strchr(halo_convolve_last_error(), '\n') == NULL) {
    return;
  }
  printf("failed: status %d instead of %d, '%s'\n", status, wanted, halo_convolve_last_error());
  exit(1);
}

static float* on_device(const float* values, size_t bytes) {
  float* data = NULL;
  need(cudaMalloc((void**)&data, bytes) == cudaSuccess, "cudaMalloc");
  if (values)
    need(cudaMemcpy(data, values, bytes, cudaMemcpyHostToDevice) == cudaSuccess, "cudaMemcpy");
  return data;
}

static double expected(int n, int k, int p, int q) {
  double sum = 0;
  for (int c = 0; c < C; ++c) {
    for (int r = 0; r < 3; ++r) {
      for (int s = 0; s < 3; ++s) {
        const int y = p - 1 + r, x = q - 1 + s;
        if (y < 0 || y >= H || x < 0 || x >= W) continue;
        sum +=
            (double)input[((n * C + c) * H + y) * W + x] * filters[((k * C + c) * 3 + r) * 3 + s];
      }
    }
  }
  return sum;
}

/* Leaves the outputs in `again`. */
static void in_a_graph(const halo_convolve_plan* plan, const float* d_input, const float* d_filters,
                       float* packed, const float* d_bias, float* d_output, float* workspace,
                       cudaStream_t stream) {
  cudaGraph_t graph;
  cudaGraphExec_t ready;
  need(cudaMemsetAsync(d_output, 0, sizeof output, stream) == cudaSuccess, "clear");
  need(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal) == cudaSuccess, "begin");
  need(halo_convolve_pack(plan, d_filters, packed, stream) == HALO_CONVOLVE_OK, "pack in a graph");
  need(halo_convolve_run(plan, d_input, packed, d_bias, d_bias != NULL, d_output, workspace,
                         stream) == HALO_CONVOLVE_OK,
       "run in a graph");
  need(cudaStreamEndCapture(stream, &graph) == cudaSuccess, "end");
  need(cudaGraphInstantiate(&ready, graph, 0) == cudaSuccess, "instantiate");
  need(cudaGraphLaunch(ready, stream) == cudaSuccess, "launch");
  need(cudaStreamSynchronize(stream) == cudaSuccess, "wait");
  need(cudaMemcpy(again, d_output, sizeof again, cudaMemcpyDeviceToHost) == cudaSuccess, "copy");
  cudaGraphExecDestroy(ready);
  cudaGraphDestroy(graph);
}

static double largest_error(const float* found, int with_bias) {
  double worst = 0;
  for (int i = 0; i < OUTPUT; ++i) {
    const int k = i / (H * W) % K;
    double sum = expected(i / (K * H * W), k, i / W % H, i % W);
    if (with_bias) {
      sum += bias[k];
      if (sum < 0) sum = 0;
    }
    worst = fmax(worst, fabs(found[i] - sum));
  }
  return worst;
}

int main(void) {
  for (int i = 0; i < INPUT; ++i) input[i] = (float)(i * 7 % 13 - 6);
  for (int i = 0; i < FILTERS; ++i) filters[i] = (float)(i * 5 % 11 - 5);
  for (int i = 0; i < K; ++i) bias[i] = (float)(i - 3);

  halo_convolve_layer layer = {.size = sizeof layer,
                               .images = N,
                               .channels = C,
                               .height = H,
                               .width = W,
                               .filters = K,
                               .filter_height = 3,
                               .filter_width = 3,
                               .padding_h = 1,
                               .padding_w = 1,
                               .bias = 1};
  halo_convolve_plan* plan = NULL;
  need(halo_convolve_create(&plan, &layer) == HALO_CONVOLVE_OK, "create");
  float* const d_input = on_device(input, sizeof input);
  float* const d_filters = on_device(filters, sizeof filters);
  float* const d_bias = on_device(bias, sizeof bias);
  float* const d_output = on_device(NULL, sizeof output);
  float* const packed = on_device(NULL, halo_convolve_packed_bytes(plan));
  const size_t bytes = halo_convolve_workspace_bytes(plan);
  float* const workspace = bytes ? on_device(NULL, bytes) : NULL;

  need(cudaDeviceSynchronize() == cudaSuccess, "copies");

  cudaStream_t stream;
  need(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) == cudaSuccess, "stream");
  need(halo_convolve_pack(plan, d_filters, packed, stream) == HALO_CONVOLVE_OK, "pack");
  need(halo_convolve_run(plan, d_input, packed, d_bias, 1, d_output, workspace, stream) ==
           HALO_CONVOLVE_OK,
       "run");
  need(cudaMemcpyAsync(output, d_output, sizeof output, cudaMemcpyDeviceToHost, stream) ==
           cudaSuccess,
       "copy");
  need(cudaStreamSynchronize(stream) == cudaSuccess, "wait");
  const double worst = largest_error(output, 1);
  if (!(worst < 0.01)) {
    printf("failed: %s is off by %g\n", halo_convolve_kernel(plan), worst);
    return 1;
  }

  /* Packing and running are captured, and run later. */
  in_a_graph(plan, d_input, d_filters, packed, d_bias, d_output, workspace, stream);
  need(memcmp(output, again, sizeof again) == 0, "the graph's outputs are the same bits");

  says(halo_convolve_run(plan, d_input + 1, packed, NULL, 0, d_output, workspace, stream),
       HALO_CONVOLVE_WRONG_USE,
       "input does not begin at a multiple of 256 bytes: copy it to memory of cudaMalloc's");
  halo_convolve_destroy(plan);

  layer.bias = 0;
  need(halo_convolve_create(&plan, &layer) == HALO_CONVOLVE_OK, "create without a bias");
  /* Of a plan that has never run, too. */
  float* const other_packed = on_device(NULL, halo_convolve_packed_bytes(plan));
  float* const other_workspace = on_device(NULL, halo_convolve_workspace_bytes(plan) + 4);
  in_a_graph(plan, d_input, d_filters, other_packed, NULL, d_output, other_workspace, stream);
  need(largest_error(again, 0) < 0.01, "a graph without a run before it");
  says(halo_convolve_run(plan, d_input, packed, d_bias, 0, d_output, workspace, 0),
       HALO_CONVOLVE_WRONG_USE, "set layer.bias to 1 before the plan is made");
  halo_convolve_destroy(plan);

  halo_convolve_layer other = layer;
  other.groups = 2;
  says(halo_convolve_create(&plan, &other), HALO_CONVOLVE_WRONG_USE,
       "a layer's 5 channels can't be divided into 2 equal groups");
  other = layer;
  other.size = 0;
  says(halo_convolve_create(&plan, &other), HALO_CONVOLVE_WRONG_USE,
       "set it to the structure's sizeof");
  other = layer;
  other.filter_height = 20;
  says(halo_convolve_create(&plan, &other), HALO_CONVOLVE_WRONG_USE,
       "the filter is larger than the input");
  /* A program that was compiled for a newer library. */
  struct {
    halo_convolve_layer known;
    int newer[2];
  } longer = {layer, {0, 0}};
  longer.known.size = sizeof longer;
  need(halo_convolve_create(&plan, &longer.known) == HALO_CONVOLVE_OK,
       "a field that nobody asked for");
  halo_convolve_destroy(plan);
  longer.newer[1] = 1;
  says(halo_convolve_create(&plan, &longer.known), HALO_CONVOLVE_NOT_SUPPORTED,
       "install a newer one");

  float* const all[] = {d_input, d_filters, d_bias,       d_output,
                        packed,  workspace, other_packed, other_workspace};
  for (size_t i = 0; i < sizeof all / sizeof *all; ++i) cudaFree(all[i]);
  cudaStreamDestroy(stream);
  puts("good");
  return 0;
}
