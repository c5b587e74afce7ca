/* Convolution in fp32 on NVIDIA GPUs, forward: the fastest of Halo's kernels for a layer, or for a signal.
 *
 *   halo_convolve_layer layer = {.size = sizeof layer, .images = 1, .channels = 64, .height = 56, .width = 56,
 *                                .filters = 64, .filter_height = 3, .filter_width = 3, .padding_h = 1, .padding_w = 1};
 *   halo_convolve_plan* plan;
 *   if (halo_convolve_create(&plan, &layer) != HALO_CONVOLVE_OK) puts(halo_convolve_last_error());
 *   ... packed and workspace: halo_convolve_packed_bytes(plan) and halo_convolve_workspace_bytes(plan) of device memory ...
 *   halo_convolve_pack(plan, filters, packed, stream);                                    once for these filters
 *   halo_convolve_run(plan, input, packed, NULL, 0, output, workspace, stream);           as often as you like
 *
 * Arrays are in the device's memory, float, and begin at a multiple of 256 bytes, as what cudaMalloc gives does:
 * input [images][channels][height][width], filters [filters][channels / groups][filter_height][filter_width],
 * output [images][filters][out_height][out_width],
 * out_height = (height + 2 * padding_h - (filter_height - 1) * dilation_h - 1) / stride_h + 1.
 * As in all networks' frameworks the filter is not flipped (cross-correlation); beyond the edges there are zeros.
 *
 * pack and run only put work on the stream: they take no memory and wait for nothing, so a stream that is being captured
 * into a CUDA graph takes them too. A plan does not change once it is made: several threads may use it, each run with a
 * workspace of its own. A stream of 0 is the legacy default stream.
 *
 * What can fail returns a status, and halo_convolve_last_error() says in one line what to do. Link with -lhalo-convolve. */
#ifndef HALO_CONVOLVE_H
#define HALO_CONVOLVE_H

#include <cuda_runtime_api.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define HALO_CONVOLVE_API __attribute__((visibility("default")))
#else
#define HALO_CONVOLVE_API
#endif

typedef enum halo_convolve_status {
  HALO_CONVOLVE_OK = 0,
  HALO_CONVOLVE_WRONG_USE = 1,     /* an argument, or a layer that there can't be */
  HALO_CONVOLVE_NOT_SUPPORTED = 2, /* a layer that no kernel here takes */
  HALO_CONVOLVE_FAILED = 3         /* no GPU, or CUDA has failed */
} halo_convolve_status;

/* Of the last call of this thread that failed: one line, until the next one fails. */
HALO_CONVOLVE_API const char* halo_convolve_last_error(void);

/* ---- Layers ---- */

/* What is 0 has the usual meaning: one stride, one group, no padding, no bias. */
typedef struct halo_convolve_layer {
  size_t size; /* sizeof(halo_convolve_layer): a newer library then knows which fields there are */
  int images, channels, height, width;
  int filters, filter_height, filter_width;
  int stride_h, stride_w;
  int padding_h, padding_w;
  int dilation_h, dilation_w;
  int groups; /* of channels and filters; a filter has channels / groups. As many as channels: depthwise */
  int bias; /* run may be given a bias, or asked for ReLU */
  /* Kernels on tensor cores may be chosen too. They multiply each factor in two parts of TF32, three products for one, and
   * are held to a bound nearly as close as float's. */
  int tensor_cores;
  /* A layer whose fastest kernel is not known for this GPU: 0 chooses by a model of times; 1 measures the most promising
   * kernels now, some tenths of a second, on memory that is given back, and keeps what is found in a file. */
  int measure;
  /* The filters change before every run, as in training: the kernel is chosen that is the fastest with its packing. */
  int filters_change;
  /* A run may begin while the launch before it in the stream ends (programmatic dependent launch; GPUs before compute
   * capability 9.0 don't), and waits for it before it reads the input. What is packed and the bias are read at once: the
   * launch before must not have written them. Not with filters_change. */
  int overlap;
  int reserved; /* 0 */
} halo_convolve_layer;

typedef struct halo_convolve_plan halo_convolve_plan;

/* For the present device. With `measure` not while a stream is being captured. */
HALO_CONVOLVE_API int halo_convolve_create(halo_convolve_plan** plan,
                                           const halo_convolve_layer* layer);
/* Null is let be. Work that is on a stream already does not need the plan any more. */
HALO_CONVOLVE_API void halo_convolve_destroy(halo_convolve_plan* plan);

/* Device memory that pack fills and run reads. 0, which it can be only with `filters_change`: the kernel reads filters as
 * they are, run is given them, and there is nothing to pack. */
HALO_CONVOLVE_API size_t halo_convolve_packed_bytes(const halo_convolve_plan* plan);
/* Device memory for one run at a time; 0: none. What it holds before or after does not matter. */
HALO_CONVOLVE_API size_t halo_convolve_workspace_bytes(const halo_convolve_plan* plan);
/* The name of the kernel that was chosen, for logs. */
HALO_CONVOLVE_API const char* halo_convolve_kernel(const halo_convolve_plan* plan);

/* Puts the filters into the order in which the kernel reads them. */
HALO_CONVOLVE_API int halo_convolve_pack(const halo_convolve_plan* plan, const float* filters,
                                         float* packed, cudaStream_t stream);
/* bias[filters] is added to the outputs of each filter, null: nothing is; then, with relu, what is negative becomes 0 (NaN
 * stays NaN). Both ask for a plan with `bias`. */
HALO_CONVOLVE_API int halo_convolve_run(const halo_convolve_plan* plan, const float* input,
                                        const float* packed, const float* bias, int relu,
                                        float* output, float* workspace, cudaStream_t stream);

/* The folder in which this process keeps and finds what was measured, instead of ~/.cache/halo (or $XDG_CACHE_HOME/halo); "":
 * nowhere, so each process measures again. Before the first plan that measures. */
HALO_CONVOLVE_API int halo_convolve_set_cache_folder(const char* folder);

/* ---- Signals: output[i] = sum over j of mask[j] * input[i - (taps - 1) / 2 + j], i from 0 to length - 1 ---- */

typedef struct halo_convolve1d_signal {
  size_t size;       /* sizeof(halo_convolve1d_signal) */
  int length;        /* up to 2,147,479,551 cells; beyond the ends there are zeros */
  int taps;          /* odd, up to 1,023 */
  const float* mask; /* [taps], in the host's memory; the plan keeps a copy */
} halo_convolve1d_signal;

typedef struct halo_convolve1d_plan halo_convolve1d_plan;

/* For the present device, of whose memory a wide mask's plan takes 34 KB. One signal a run: of many signals each is a run of
 * its own, on as many streams as you like. */
HALO_CONVOLVE_API int halo_convolve1d_create(halo_convolve1d_plan** plan,
                                             const halo_convolve1d_signal* signal);
/* Waits for the device if the plan took memory: it may still be read. Null is let be. */
HALO_CONVOLVE_API void halo_convolve1d_destroy(halo_convolve1d_plan* plan);
/* The name of the kernel that was chosen: quad and warp_tile add products up, overlap_save goes by a Fourier transform, and
 * errs by some 1e-7 of the largest sums. */
HALO_CONVOLVE_API const char* halo_convolve1d_kernel(const halo_convolve1d_plan* plan);
/* input and output [length], which begin at a multiple of 16 bytes and do not overlap. */
HALO_CONVOLVE_API int halo_convolve1d_run(const halo_convolve1d_plan* plan, const float* input,
                                          float* output, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
