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

/// A call that needs a device in order, and its stream.
template <class Body>
cudaError_t on_stream(const char* name, cudaStream_t stream, Body body) {
  return call(name, [&]() -> cudaError_t {
    return is_stream(stream) ? body() : cudaErrorInvalidResourceHandle;
  });
}

/// The work that notes the time.
Work record_of(cudaEvent_t event);

/// Of a built-in stream, the current one.
int device_of(cudaStream_t stream);

/// By which the timeline knows the stream; while a graph is launched, the one that it is launched on.
int number_of(cudaStream_t stream);
class GraphOnStream {
 public:
  explicit GraphOnStream(cudaStream_t stream) : GraphOnStream(number_of(stream)) {}
  explicit GraphOnStream(int number);
  ~GraphOnStream();
  GraphOnStream(const GraphOnStream&) = delete;
  GraphOnStream& operator=(const GraphOnStream&) = delete;

 private:
  int before_;
};

/// Whether its work becomes a graph.
bool is_captured(cudaStream_t stream);

/// Does the work, or makes it a node of the graph that is being captured from the stream.
cudaError_t enqueue(cudaStream_t stream, cudaGraphNodeType type, const Work& work,
                    const NodeParameters& parameters = {});

/// A call that gives the stream work; `work` is kept, so it holds all that it needs.
template <class Body>
cudaError_t work_on_stream(const char* name, cudaStream_t stream, cudaGraphNodeType type,
                           Body work) {
  return on_stream(name, stream, [&] { return enqueue(stream, type, work); });
}

/// As cudaDeviceReset does: those of the current device.
void forget_streams();

}  // namespace simt::cudart
