// The functions that make streams. Nothing else may be in this file: a program that links it is one that
// can have streams of its own, and then what it does is remembered from its start (streams.hpp).
#include "common/simt/runtime/stream_api.hpp"

#include "common/simt/runtime/streams.hpp"

namespace {

[[gnu::constructor]] void this_program_has_streams() { simt::streams::remember_from_the_start(); }

}  // namespace

extern "C" {

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned int flags, int priority) {
  return simt::create_stream(stream, flags, priority);
}

cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  return simt::create_stream(stream, cudaStreamDefault, 0);
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned int flags) {
  return simt::create_stream(stream, flags, 0);
}

}  // extern "C"
