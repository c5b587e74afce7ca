// Streams and events as host code holds them. All work is done in the order of the calls.
#pragma once

#include <driver_types.h>

#include "common/simt/cudart/calls.hpp"
#include "common/simt/cudart/graphs.hpp"

namespace simt::cudart {

inline constexpr int kLeastPriority = 0;
inline constexpr int kGreatestPriority = -5;

/// Made and not destroyed, or one of the built-in ones.
bool is_stream(cudaStream_t stream);

// What streams that are being captured forbid: the call answers the error, which is said, and what it would have
// disturbed can no longer become a graph. CUDA Runtime API, cudaStreamBeginCapture and
// cudaThreadExchangeStreamCaptureMode; where these say little, as CUDA 13.0 answers.
/// The legacy default stream, while a blocking stream is being captured, of which each waits for the other.
cudaError_t check_legacy(const char* name, cudaStream_t stream);
/// What CUDA calls potentially unsafe, by this host thread: it could wait for work that has only been noted.
cudaError_t check_unsafe(const char* name);
/// What waits for all streams.
cudaError_t check_no_capture(const char* name);
/// What needs this stream's work done.
cudaError_t check_not_captured(cudaStream_t stream);

/// A call that needs a device in order, and its stream.
cudaError_t on_stream(const char* name, cudaStream_t stream, Body<cudaError_t()> body);

/// A call that is potentially unsafe during a capture.
cudaError_t outside_capture(const char* name, Body<cudaError_t()> body);

/// The work that notes the time and what is on the stream, and that waits for it.
Work record_of(cudaEvent_t event, cudaStream_t stream = nullptr);
Work wait_of(cudaEvent_t event, cudaStream_t stream = nullptr);
/// The work that calls a function of the program's.
Work call_of(const cudaHostNodeParams& its, cudaStream_t stream = nullptr);

/// Of a built-in stream, the current one.
int device_of(cudaStream_t stream);

/// By which the timeline knows the stream; while a graph is launched, the one that it is launched on.
int number_of(cudaStream_t stream);
class GraphOnStream {
 public:
  /// Or other work that is done as if it were. `is_body`: of a conditional node, whose kernels run to their end at once.
  explicit GraphOnStream(int number, bool is_body = false);
  ~GraphOnStream();
  GraphOnStream(const GraphOnStream&) = delete;
  GraphOnStream& operator=(const GraphOnStream&) = delete;

 private:
  int before_;
  bool was_in_body_;
};
bool is_in_body();

/// Whether its work becomes a graph.
bool is_captured(cudaStream_t stream);
/// A call that should have become part of it has failed.
void spoil_capture(cudaStream_t stream);

/// Does the work, once what is before it on the stream has ended.
cudaError_t in_order(cudaStream_t stream, const Work& work);

/// Does the work so, or makes it a node of the graph that is being captured from the stream.
cudaError_t enqueue(cudaStream_t stream, cudaGraphNodeType type, const Work& work,
                    const NodeParameters& parameters = {});

/// A call that gives the stream work; `work` is kept, so it holds all that it needs.
cudaError_t work_on_stream(const char* name, cudaStream_t stream, cudaGraphNodeType type,
                           const Work& work);

/// As cudaDeviceReset does: those of the current device.
void forget_streams();

}  // namespace simt::cudart
