#include "common/simt/cudart/streams.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <memory>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "common/simt/cudart/calls.hpp"
#include "common/simt/cudart/devices.hpp"
#include "common/simt/cudart/operations.hpp"
#include "common/simt/cudart/settings.hpp"
#include "common/simt/cudart/timeline.hpp"
#include "common/simt/cudart/waiting.hpp"

namespace simt::cudart {

// Work of some streams is being made into a graph.
struct Capture {
  std::unique_ptr<CUgraph_st> graph = std::make_unique<CUgraph_st>();
  CUgraph_st* into = graph.get();  // or one that the program has
  cudaStream_t origin = nullptr;   // where it began
  cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;
  std::thread::id thread = std::this_thread::get_id();  // that began it
  unsigned long long number = 0;
  int device = 0;
  bool is_blocking = false;  // one of its streams waits for the legacy default stream
  bool is_active = true;
  bool is_valid = true;

  Capture();
  ~Capture();
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;
};

}  // namespace simt::cudart

struct CUstream_st {
  unsigned int flags = cudaStreamDefault;
  int priority = 0;
  int device = 0;
  unsigned long long number = 0;
  int order = -1;                                           // in the timeline; -1: none yet
  std::map<int, cudaLaunchAttributeValue> attributes = {};  // that the program set
  std::shared_ptr<simt::cudart::Capture> capture = {};
  std::vector<CUgraphNode_st*> last = {};  // of the capture: what the next node comes behind
  bool asked = false;                      // and told 'not ready', the last time
};

struct CUevent_st {
  bool has_time = true;
  int device = 0;
  bool is_recorded = false;
  simt::cudart::timeline::Clock clock = {};  // what was on its stream
  std::chrono::steady_clock::time_point time = {};
  std::uint64_t waits = 0;                   // of the host before
  bool asked = false;                        // as of a stream
  simt::cudart::waiting::Ticket ticket = 0;  // of its record, if that had to wait
  std::shared_ptr<simt::cudart::Capture> capture = {};
  std::vector<CUgraphNode_st*> last = {};
};

namespace simt::cudart {
namespace {

struct Made {
  std::set<cudaStream_t> streams;
  std::set<cudaEvent_t> events;
  std::set<Capture*> captures;
  unsigned long long last_number = 0;
  unsigned long long last_capture = 0;
};
Made& made() {
  static Made& instance = *new Made;
  return instance;
}

thread_local constinit cudaStreamCaptureMode mode_of_thread = cudaStreamCaptureModeGlobal;

int graph_on = -1;  // in the timeline: the stream of the graph that is being launched
bool in_body = false;

bool is_legacy(cudaStream_t stream) { return stream == nullptr || stream == cudaStreamLegacy; }

bool is_built_in(cudaStream_t stream) { return is_legacy(stream) || stream == cudaStreamPerThread; }

// The built-in streams are names only.
CUstream_st& object_of(cudaStream_t stream) {
  static auto& legacy = *new std::array<CUstream_st, kMostDevices>;
  thread_local std::array<CUstream_st, kMostDevices> of_thread;
  const auto device = static_cast<std::size_t>(current_device());
  if (stream == cudaStreamPerThread) return of_thread[device];
  return is_legacy(stream) ? legacy[device] : *stream;
}

Capture* capture_of(cudaStream_t stream) {
  const std::shared_ptr<Capture>& capture = object_of(stream).capture;
  return capture != nullptr && capture->is_active ? capture.get() : nullptr;
}

// Spoils the captures in progress that are meant, and tells whether there was one.
template <class Meant>
bool spoil_captures(Meant is_meant) {
  bool any = false;
  for (Capture* const capture : made().captures) {
    if (!capture->is_active || !is_meant(*capture)) continue;
    capture->is_valid = false;
    any = true;
  }
  return any;
}

cudaError_t host_waits_for(const char* name, cudaStream_t stream) {
  cudaError_t error = check_not_captured(stream);
  if (error == cudaSuccess) error = check_unsafe(name);
  if (error == cudaSuccess) timeline::host_waited_for(number_of(stream));
  return error;
}

// A GPU may be at it still: who asks once, whatever the answer is, has not waited. Every other time the answer is yes, even
// if there is more by now: a loop may launch until it is told so.
bool is_asked_first(bool is_unfinished, bool& asked) { return asked = is_unfinished && !asked; }

bool is_event(cudaEvent_t event) { return made().events.contains(event); }

bool is_being_captured(cudaEvent_t event) {
  return event->capture != nullptr && event->capture->is_active;
}

// The stream takes part in the event's capture from here on, if it does not yet.
cudaError_t join_capture(cudaStream_t stream, cudaEvent_t event) {
  Capture& joined = *event->capture;
  Capture* const own = capture_of(stream);
  if (is_legacy(stream)) {
    joined.is_valid = false;
    return cudaErrorStreamCaptureImplicit;
  }
  if (own != nullptr && own != &joined) {
    own->is_valid = joined.is_valid = false;
    return cudaErrorStreamCaptureMerge;
  }
  CUstream_st& its = object_of(stream);
  if (own == nullptr) {
    its.last.clear();
    joined.is_blocking |= (its.flags & cudaStreamNonBlocking) == 0;
  }
  its.capture = event->capture;
  its.last.insert(its.last.end(), event->last.begin(), event->last.end());
  return cudaSuccess;
}

// Whether all that was captured on these streams comes before what the origin's next node would come behind.
bool is_joined(const Capture& capture, const std::set<cudaStream_t>& streams) {
  std::set<const CUgraphNode_st*> before;
  std::vector<CUgraphNode_st*> next = object_of(capture.origin).last;
  while (!next.empty()) {
    const CUgraphNode_st* const node = next.back();
    next.pop_back();
    if (!before.insert(node).second) continue;
    next.insert(next.end(), node->dependencies.begin(), node->dependencies.end());
  }
  return std::ranges::all_of(streams, [&](cudaStream_t stream) {
    return stream->capture.get() != &capture ||
           std::ranges::all_of(stream->last,
                               [&](const CUgraphNode_st* node) { return before.contains(node); });
  });
}

cudaError_t wait_for_event(const char* name, cudaEvent_t event, bool until_it_is_there) {
  return call(name, [&] {
    if (!is_event(event)) return cudaErrorInvalidResourceHandle;
    if (is_being_captured(event)) {
      event->capture->is_valid = false;
      return cudaErrorCapturedEvent;
    }
    if (event->capture != nullptr) return cudaErrorInvalidValue;  // of a capture that has ended
    if (const cudaError_t error = check_unsafe(name); error != cudaSuccess) return error;
    waiting::advance();
    if (until_it_is_there) waiting::finish(event->ticket);
    if (waiting::waits(event->ticket)) return cudaErrorNotReady;
    if (!until_it_is_there && is_asked_first(timeline::is_unfinished(event->clock), event->asked)) {
      return cudaErrorNotReady;
    }
    timeline::host_waited_for(event->clock);
    return cudaSuccess;
  });
}

cudaError_t create_stream(cudaStream_t* stream, unsigned int flags, int priority) {
  return call("cudaStreamCreate", [&] {
    if (stream == nullptr || flags > cudaStreamNonBlocking) return cudaErrorInvalidValue;
    *stream = new CUstream_st{.flags = flags,
                              .priority = std::clamp(priority, kGreatestPriority, kLeastPriority),
                              .device = current_device(),
                              .number = ++made().last_number,
                              .order = timeline::create_stream(flags == cudaStreamNonBlocking)};
    made().streams.insert(*stream);
    return cudaSuccess;
  });
}

}  // namespace

Capture::Capture() { made().captures.insert(this); }
Capture::~Capture() { made().captures.erase(this); }

cudaError_t check_legacy(const char* name, cudaStream_t stream) {
  if (!is_legacy(stream)) return cudaSuccess;
  const auto waits = [](const Capture& capture) {
    return capture.is_blocking && capture.device == current_device();
  };
  if (!spoil_captures(waits)) return cudaSuccess;
  explain("default stream during a capture",
          "%s: not on the default stream while a blocking stream is being captured; the capture is "
          "now invalid. Use the captured stream, or create it with cudaStreamNonBlocking",
          name);
  return cudaErrorStreamCaptureImplicit;
}

cudaError_t check_unsafe(const char* name) {
  if (mode_of_thread == cudaStreamCaptureModeRelaxed) return cudaSuccess;
  const auto forbids = [](const Capture& capture) {
    if (capture.thread == std::this_thread::get_id()) {
      return capture.mode != cudaStreamCaptureModeRelaxed;
    }
    return mode_of_thread == cudaStreamCaptureModeGlobal &&
           capture.mode == cudaStreamCaptureModeGlobal;
  };
  if (!spoil_captures(forbids)) return cudaSuccess;
  explain(name,
          "%s: not while a stream is being captured; the capture is now invalid. Call it before "
          "cudaStreamBeginCapture, or begin the capture with cudaStreamCaptureModeRelaxed",
          name);
  return cudaErrorStreamCaptureUnsupported;
}

cudaError_t check_no_capture(const char* name) {
  const auto is_here = [](const Capture& capture) { return capture.device == current_device(); };
  if (!spoil_captures(is_here)) return cudaSuccess;
  explain(name,
          "%s: not while a stream is being captured; the capture is now invalid. Call it after "
          "cudaStreamEndCapture",
          name);
  return cudaErrorStreamCaptureUnsupported;
}

cudaError_t check_not_captured(cudaStream_t stream) {
  if (capture_of(stream) == nullptr) return cudaSuccess;
  spoil_capture(stream);
  return cudaErrorStreamCaptureUnsupported;
}

cudaError_t on_stream(const char* name, cudaStream_t stream, Body<cudaError_t()> body) {
  return call(name, [&] {
    if (!is_stream(stream)) return cudaErrorInvalidResourceHandle;
    const cudaError_t error = check_legacy(name, stream);
    return error == cudaSuccess ? body() : error;
  });
}

cudaError_t outside_capture(const char* name, Body<cudaError_t()> body) {
  return call(name, [&] {
    const cudaError_t error = check_unsafe(name);
    return error == cudaSuccess ? body() : error;
  });
}

Work call_of(const cudaHostNodeParams& its, cudaStream_t stream) {
  return [=] {
    const timeline::HostTask task(number_of(stream));
    its.fn(its.userData);
    return cudaSuccess;
  };
}

Work record_of(cudaEvent_t event, cudaStream_t stream) {
  return [event, stream] {
    if (!is_event(event)) return cudaErrorInvalidResourceHandle;
    event->clock = timeline::record(number_of(stream));
    event->is_recorded = true;
    event->time = std::chrono::steady_clock::now();
    event->waits = timeline::host_waits();
    return cudaSuccess;
  };
}

Work wait_of(cudaEvent_t event, cudaStream_t stream) {
  return [event, stream] {
    if (!is_event(event)) return cudaErrorInvalidResourceHandle;
    timeline::wait(number_of(stream), event->clock);
    return cudaSuccess;
  };
}

bool is_stream(cudaStream_t stream) {
  return is_built_in(stream) || made().streams.contains(stream);
}

int number_of(cudaStream_t stream) {
  if (graph_on >= 0) return graph_on;
  if (is_legacy(stream)) {
    return timeline::default_stream(current_device());
  }
  CUstream_st& its = object_of(stream);
  if (its.order < 0) its.order = timeline::create_stream(false);
  return its.order;
}

int device_of(cudaStream_t stream) {
  return is_built_in(stream) ? current_device() : stream->device;
}

GraphOnStream::GraphOnStream(int number, bool is_body)
    : before_(graph_on), was_in_body_(std::exchange(in_body, is_body)) {
  graph_on = number;
}
GraphOnStream::~GraphOnStream() {
  graph_on = before_;
  in_body = was_in_body_;
}
bool is_in_body() { return in_body; }

bool is_captured(cudaStream_t stream) { return capture_of(stream) != nullptr; }

void spoil_capture(cudaStream_t stream) {
  if (!is_stream(stream)) return;
  if (Capture* const capture = capture_of(stream); capture != nullptr) capture->is_valid = false;
}

cudaError_t in_order(cudaStream_t stream, const Work& work) {
  if (!waiting::holds(number_of(stream))) return work();
  waiting::put(number_of(stream), work);
  return cudaSuccess;
}

cudaError_t enqueue(cudaStream_t stream, cudaGraphNodeType type, const Work& work,
                    const NodeParameters& parameters) {
  Capture* const capture = capture_of(stream);
  if (capture == nullptr) {
    // Such a copy takes the host's memory as it is now, or brings it back: a GPU's host waits for both.
    if (type == cudaGraphNodeTypeMemcpy && waiting::holds(number_of(stream)) &&
        is_of_unlocked_memory(work)) {
      waiting::finish_stream(number_of(stream));
    }
    return in_order(stream, work);
  }
  if (!capture->is_valid) return cudaErrorStreamCaptureInvalidated;
  // A GPU looks at copies here, and at memsets when the graph is instantiated.
  if (type == cudaGraphNodeTypeMemcpy) {
    if (const cudaError_t error = only_checked(work); error != cudaSuccess) return error;
  }
  CUstream_st& its = object_of(stream);
  CUgraphNode_st& node = add_node(*capture->into, type, its.last, work);
  node.parameters = parameters;
  its.last = {&node};
  return cudaSuccess;
}

cudaError_t work_on_stream(const char* name, cudaStream_t stream, cudaGraphNodeType type,
                           const Work& work) {
  return on_stream(name, stream, [&] { return enqueue(stream, type, work); });
}

void forget_streams() {
  timeline::host_waited_for_device(current_device());
  const auto forget = [](const auto* one) {
    const bool is_its = one->device == current_device();
    if (is_its) delete one;
    return is_its;
  };
  std::erase_if(made().streams, forget);
  std::erase_if(made().events, forget);
}

extern "C" {

// ---- Streams ----

cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  return create_stream(stream, cudaStreamDefault, 0);
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned int flags) {
  return create_stream(stream, flags, 0);
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned int flags, int priority) {
  return create_stream(stream, flags, priority);
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  return call("cudaStreamDestroy", [&] {
    if (!made().streams.contains(stream)) return cudaErrorInvalidResourceHandle;
    // What is on it still goes on.
    in_order(stream, [number = stream->order] {
      timeline::destroy_stream(number);
      return cudaSuccess;
    });
    made().streams.erase(stream);
    if (Capture* const capture = capture_of(stream); capture != nullptr) {
      // A second stream may go once the first waits for its work.
      if (capture->origin == stream) capture->is_active = false;
      if (!capture->is_active || !is_joined(*capture, {stream})) capture->is_valid = false;
    }
    delete stream;
    return cudaSuccess;
  });
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  return on_stream("cudaStreamSynchronize", stream,
                   [&] { return host_waits_for("cudaStreamSynchronize", stream); });
}

cudaError_t cudaStreamQuery(cudaStream_t stream) {
  return on_stream("cudaStreamQuery", stream, [&] {
    cudaError_t error = check_not_captured(stream);
    if (error == cudaSuccess) error = check_unsafe("cudaStreamQuery");
    if (error != cudaSuccess) return error;
    waiting::advance();
    if (waiting::holds(number_of(stream)) ||
        is_asked_first(timeline::is_unfinished(number_of(stream)), object_of(stream).asked)) {
      return cudaErrorNotReady;
    }
    timeline::host_waited_for(number_of(stream));
    return cudaSuccess;
  });
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int flags) {
  return on_stream("cudaStreamWaitEvent", stream, [&] {
    if (!is_event(event)) {
      spoil_capture(stream);
      return cudaErrorInvalidResourceHandle;
    }
    if (flags > cudaEventWaitExternal) return cudaErrorInvalidValue;
    if (flags == cudaEventWaitExternal) {
      return enqueue(stream, cudaGraphNodeTypeWaitEvent, wait_of(event, stream), {.event = event});
    }
    if (is_being_captured(event)) return join_capture(stream, event);
    if (event->capture != nullptr) return cudaErrorInvalidValue;  // of a capture that has ended
    if (is_captured(stream) && event->is_recorded) {
      spoil_capture(stream);
      explain("wait during a capture",
              "cudaStreamWaitEvent: the stream is being captured, but the event was recorded "
              "before; the capture is now invalid. Record the event on a captured stream, or wait "
              "with cudaEventWaitExternal");
      return cudaErrorStreamCaptureIsolation;
    }
    const auto wait = [event, number = number_of(stream)] {
      if (is_event(event)) timeline::wait(number, event->clock);
      return cudaSuccess;
    };
    if (!waiting::waits(event->ticket)) return in_order(stream, wait);
    waiting::put(number_of(stream), wait, {event->ticket});
    return cudaSuccess;
  });
}

cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned int* flags) {
  return on_stream("cudaStreamGetFlags", stream, [&] {
    if (flags == nullptr) return cudaErrorInvalidValue;
    *flags = is_built_in(stream) ? static_cast<unsigned>(cudaStreamDefault) : stream->flags;
    return cudaSuccess;
  });
}

cudaError_t cudaStreamGetPriority(cudaStream_t stream, int* priority) {
  return on_stream("cudaStreamGetPriority", stream, [&] {
    if (priority == nullptr) return cudaErrorInvalidValue;
    *priority = is_built_in(stream) ? 0 : stream->priority;
    return cudaSuccess;
  });
}

cudaError_t cudaStreamGetId(cudaStream_t stream, unsigned long long* id) {
  return on_stream("cudaStreamGetId", stream, [&] {
    if (id == nullptr) return cudaErrorInvalidValue;
    *id = is_built_in(stream) ? 0 : stream->number;
    return cudaSuccess;
  });
}

cudaError_t cudaStreamGetDevice(cudaStream_t stream, int* device) {
  return on_stream("cudaStreamGetDevice", stream, [&] {
    if (device == nullptr) return cudaErrorInvalidValue;
    *device = device_of(stream);
    return cudaSuccess;
  });
}

// Hints: they change nothing that is counted.
cudaError_t cudaStreamSetAttribute(cudaStream_t stream, cudaStreamAttrID attribute,
                                   const cudaStreamAttrValue* value) {
  return on_stream("cudaStreamSetAttribute", stream, [&] {
    if (value == nullptr) return cudaErrorInvalidValue;
    object_of(stream).attributes[attribute] = *value;
    return cudaSuccess;
  });
}

cudaError_t cudaStreamGetAttribute(cudaStream_t stream, cudaStreamAttrID attribute,
                                   cudaStreamAttrValue* value) {
  return on_stream("cudaStreamGetAttribute", stream, [&] {
    if (value == nullptr) return cudaErrorInvalidValue;
    *value = {};
    const auto& all = object_of(stream).attributes;
    if (const auto found = all.find(attribute); found != all.end()) *value = found->second;
    return cudaSuccess;
  });
}

cudaError_t cudaStreamCopyAttributes(cudaStream_t to, cudaStream_t from) {
  return on_stream("cudaStreamCopyAttributes", to, [&] {
    if (!is_stream(from)) return cudaErrorInvalidResourceHandle;
    object_of(to).attributes = object_of(from).attributes;
    return cudaSuccess;
  });
}

// ---- Capture ----

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
  return on_stream("cudaStreamBeginCapture", stream, [&] {
    if (is_legacy(stream)) return cudaErrorStreamCaptureUnsupported;
    if (capture_of(stream) != nullptr) return cudaErrorIllegalState;
    CUstream_st& its = object_of(stream);
    its.capture = std::make_shared<Capture>();
    its.capture->origin = stream;
    its.capture->mode = mode;
    its.capture->device = device_of(stream);
    its.capture->is_blocking = (its.flags & cudaStreamNonBlocking) == 0;
    its.capture->number = ++made().last_capture;
    its.last.clear();
    return cudaSuccess;
  });
}

cudaError_t cudaStreamBeginCaptureToGraph(cudaStream_t stream, cudaGraph_t graph,
                                          const cudaGraphNode_t* dependencies,
                                          const cudaGraphEdgeData*, std::size_t count,
                                          cudaStreamCaptureMode mode) {
  if (graph == nullptr) return record(cudaErrorInvalidValue);
  const cudaError_t error = cudaStreamBeginCapture(stream, mode);
  if (error != cudaSuccess) return error;
  const std::lock_guard lock(turn());
  CUstream_st& its = object_of(stream);
  its.capture->into = graph;
  its.last.assign(dependencies, dependencies + count);
  return cudaSuccess;
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  return on_stream("cudaStreamEndCapture", stream, [&] {
    Capture* const capture = capture_of(stream);
    // What was captured into a graph of the program's has its place.
    const bool is_into = capture != nullptr && capture->into != capture->graph.get();
    if (graph == nullptr && !is_into) return cudaErrorInvalidValue;
    cudaGraph_t unused;
    if (graph == nullptr) graph = &unused;
    *graph = nullptr;
    if (capture == nullptr) return cudaErrorIllegalState;
    if (capture->origin != stream) {
      capture->is_valid = false;
      return cudaErrorStreamCaptureUnmatched;
    }
    capture->is_active = false;
    const std::shared_ptr<Capture> kept = std::move(object_of(stream).capture);
    if (kept->mode != cudaStreamCaptureModeRelaxed && kept->thread != std::this_thread::get_id()) {
      return cudaErrorStreamCaptureWrongThread;
    }
    if (!kept->is_valid) return cudaErrorStreamCaptureInvalidated;
    if (!is_joined(*kept, made().streams)) {
      explain("unjoined",
              "cudaStreamEndCapture: a second stream was captured as well, and the first does not "
              "wait for its last work. Record an event after that work, and let the first stream "
              "wait for it");
      return cudaErrorStreamCaptureUnjoined;
    }
    *graph = kept->into == kept->graph.get() ? kept->graph.release() : kept->into;
    return cudaSuccess;
  });
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  return call("cudaStreamIsCapturing", [&] {
    if (!is_stream(stream)) return cudaErrorInvalidResourceHandle;
    if (status == nullptr) return cudaErrorInvalidValue;
    const Capture* const capture = capture_of(stream);
    *status = capture == nullptr  ? cudaStreamCaptureStatusNone
              : capture->is_valid ? cudaStreamCaptureStatusActive
                                  : cudaStreamCaptureStatusInvalidated;
    return cudaSuccess;
  });
}

cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, cudaStreamCaptureStatus* status,
                                     unsigned long long* id, cudaGraph_t* graph,
                                     const cudaGraphNode_t** dependencies,
                                     const cudaGraphEdgeData** edges, std::size_t* count) {
  const cudaError_t error = cudaStreamIsCapturing(stream, status);
  if (error != cudaSuccess || *status == cudaStreamCaptureStatusNone) return error;
  const std::lock_guard lock(turn());
  CUstream_st& its = object_of(stream);
  if (id != nullptr) *id = its.capture->number;
  if (graph != nullptr) *graph = its.capture->into;
  if (dependencies != nullptr) *dependencies = its.last.data();
  if (edges != nullptr) *edges = nullptr;
  if (count != nullptr) *count = its.last.size();
  return cudaSuccess;
}

cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t stream, cudaGraphNode_t* dependencies,
                                                const cudaGraphEdgeData*, std::size_t count,
                                                unsigned int flags) {
  return on_stream("cudaStreamUpdateCaptureDependencies", stream, [&] {
    if (capture_of(stream) == nullptr) return cudaErrorIllegalState;
    std::vector<CUgraphNode_st*>& last = object_of(stream).last;
    if (flags == cudaStreamSetCaptureDependencies) last.clear();
    last.insert(last.end(), dependencies, dependencies + count);
    return cudaSuccess;
  });
}

cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
  return query("cudaThreadExchangeStreamCaptureMode", [&] {
    if (mode == nullptr) return cudaErrorInvalidValue;
    std::swap(*mode, mode_of_thread);
    return cudaSuccess;
  });
}

cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback,
                                  void* user_data, unsigned int flags) {
  return on_stream("cudaStreamAddCallback", stream, [&] {
    if (callback == nullptr || flags != 0) return cudaErrorInvalidValue;
    if (const cudaError_t error = check_not_captured(stream); error != cudaSuccess) return error;
    return in_order(stream, [=] {
      const timeline::HostTask task(number_of(stream));
      callback(stream, cudaSuccess, user_data);
      return cudaSuccess;
    });
  });
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* user_data) {
  return on_stream("cudaLaunchHostFunc", stream, [&] {
    if (function == nullptr) return cudaErrorInvalidValue;
    const cudaHostNodeParams its{function, user_data};
    return enqueue(stream, cudaGraphNodeTypeHost, call_of(its, stream), {.host = its});
  });
}

cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void* pointer, std::size_t,
                                     unsigned int flags) {
  return on_stream("cudaStreamAttachMemAsync", stream, [&] {
    const Block* const block = block_at(pointer);
    const bool is_right = block != nullptr && block->is_open_to_host() &&
                          (flags != cudaMemAttachSingle || !is_built_in(stream));
    return is_right ? cudaSuccess : cudaErrorInvalidValue;
  });
}

// ---- Events ----

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned int flags) {
  return call("cudaEventCreate", [&] {
    constexpr unsigned int kFlags =
        cudaEventBlockingSync | cudaEventDisableTiming | cudaEventInterprocess;
    if (event == nullptr || (flags & ~kFlags) != 0) return cudaErrorInvalidValue;
    *event = new CUevent_st{.has_time = (flags & cudaEventDisableTiming) == 0,
                            .device = current_device()};
    made().events.insert(*event);
    return cudaSuccess;
  });
}

cudaError_t cudaEventCreate(cudaEvent_t* event) {
  return cudaEventCreateWithFlags(event, cudaEventDefault);
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  return call("cudaEventDestroy", [&] {
    if (made().events.erase(event) == 0) return cudaErrorInvalidResourceHandle;
    delete event;
    return cudaSuccess;
  });
}

cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned int flags) {
  return on_stream("cudaEventRecord", stream, [&] {
    if (!is_event(event)) return cudaErrorInvalidResourceHandle;
    if (flags > cudaEventRecordExternal) return cudaErrorInvalidValue;
    if (event->device != device_of(stream)) {
      explain("event of another device",
              "cudaEventRecord: the event was created on device %d, the stream is of device %d",
              event->device, device_of(stream));
      return cudaErrorInvalidResourceHandle;
    }
    if (flags == cudaEventRecordExternal) {
      return enqueue(stream, cudaGraphNodeTypeEventRecord, record_of(event, stream),
                     {.event = event});
    }
    // During a capture an event says where in the graph it was recorded.
    const bool is_part = capture_of(stream) != nullptr;
    event->capture = is_part ? object_of(stream).capture : nullptr;
    event->last = object_of(stream).last;
    if (is_part) return cudaSuccess;
    event->ticket = 0;
    if (!waiting::holds(number_of(stream))) return record_of(event, stream)();
    event->ticket = waiting::put(number_of(stream), record_of(event, stream));
    return cudaSuccess;
  });
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  return cudaEventRecordWithFlags(event, stream, cudaEventRecordDefault);
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
  return wait_for_event("cudaEventQuery", event, false);
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  return wait_for_event("cudaEventSynchronize", event, true);
}

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end) {
  return call("cudaEventElapsedTime", [&] {
    if (milliseconds == nullptr) return cudaErrorInvalidValue;
    for (cudaEvent_t event : {start, end}) {
      if (is_event(event) && is_being_captured(event)) return cudaErrorCapturedEvent;
      if (!is_event(event) || !event->has_time || !event->is_recorded) {
        return cudaErrorInvalidResourceHandle;
      }
    }
    if (end->waits == timeline::host_waits()) {
      explain("not ready",
              "cudaEventElapsedTime: the host has not waited for the second event: call "
              "cudaEventSynchronize first");
      return cudaErrorNotReady;
    }
    *milliseconds = std::chrono::duration<float, std::milli>(end->time - start->time).count();
    return cudaSuccess;
  });
}

}  // extern "C"

}  // namespace simt::cudart
