// Streams and events, which are the runtime's own under the driver's names.
#include "common/simt/cudart/streams.hpp"

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cstring>

#include "common/simt/cudart/allocations.hpp"
#include "common/simt/cudart/record.hpp"
#include "common/simt/cudart/recording.hpp"
#include "common/simt/cudart/timeline.hpp"
#include "common/simt/cudart/waiting.hpp"
#include "common/simt/driver/calls.hpp"

namespace simt::driver {
namespace {

// A word of memory that a stream writes, or waits for.
struct Word {
  const char* call;
  CUdeviceptr address;
  int bytes;
  cuuint64_t value;
  unsigned int flags;

  cuuint64_t now() const {
    cuuint64_t its = 0;
    std::memcpy(&its, cudart::reach(address), static_cast<std::size_t>(bytes));
    return its;
  }
  // CU_STREAM_WAIT_VALUE_GEQ is cyclic.
  bool holds() const {
    const cuuint64_t its = now(), all = bytes == 4 ? ~0u : ~cuuint64_t{0};
    switch (flags & ~static_cast<unsigned>(CU_STREAM_WAIT_VALUE_FLUSH)) {
      case CU_STREAM_WAIT_VALUE_EQ:
        return its == value;
      case CU_STREAM_WAIT_VALUE_AND:
        return (its & value) != 0;
      case CU_STREAM_WAIT_VALUE_NOR:
        return (~(its | value) & all) != 0;
      default:
        return ((its - value) & (all ^ all >> 1)) == 0;
    }
  }
};

// Others on other streams may know by such a word what comes before it.
void touch(const Word& word, int stream, bool writes) {
  cudart::timeline::Operation operation(stream, word.call);
  const auto bytes = static_cast<std::size_t>(word.bytes);
  writes ? operation.tells(word.address, bytes) : operation.asks(word.address, bytes);
  if (operation.remembers()) {
    using cudart::timeline::Touch;
    operation.touch(word.address, bytes, writes ? Touch::tells : Touch::polls);
  }
  Launch told;
  told.kernel = word.call;
  told.findings = operation.findings();
  if (!told.findings.empty()) record_launch(std::move(told));
}

CUresult check(const Word& word, CUstream stream, unsigned int known_flags) {
  if ((word.flags & ~known_flags) != 0 ||
      word.address % static_cast<CUdeviceptr>(word.bytes) != 0) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  const cudart::Block* const block = cudart::block_at(word.address);
  if (block == nullptr ||
      block->bytes - (word.address - block->begin) < static_cast<std::size_t>(word.bytes)) {
    cudart::explain(word.call,
                    "%s: CUDA has no %d bytes of memory at %p: pass an address of cuMemAlloc, "
                    "cuMemHostAlloc or cuMemHostRegister",
                    word.call, word.bytes, pointer_to(word.address));
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (cudart::is_captured(stream)) {
    cudart::explain(word.call, "%s in a stream that is captured is not in the simulator",
                    word.call);
    return CUDA_ERROR_NOT_SUPPORTED;
  }
  return cudart::is_recording() ? result_of(cudart::refuse_to_note(word.call)) : CUDA_SUCCESS;
}

CUresult write_word(CUstream stream, const Word& word) {
  return in_stream(word.call, stream, [&] {
    const CUresult wrong = check(word, stream, CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER);
    if (wrong != CUDA_SUCCESS) return wrong;
    const int number = cudart::number_of(stream);
    return result_of(cudart::in_order(stream, [word, number] {
      touch(word, number, true);
      const auto bytes = static_cast<std::size_t>(word.bytes);
      std::memcpy(cudart::reach(word.address), &word.value, bytes);
      cudart::mark_written(word.address, bytes);
      return cudaSuccess;
    }));
  });
}

CUresult wait_for_word(CUstream stream, const Word& word) {
  return in_stream(word.call, stream, [&] {
    const CUresult wrong =
        check(word, stream, CU_STREAM_WAIT_VALUE_NOR | CU_STREAM_WAIT_VALUE_FLUSH);
    if (wrong != CUDA_SUCCESS) return wrong;
    const int number = cudart::number_of(stream);
    const cudart::Work go_on = [word, number] {
      touch(word, number, false);
      return cudaSuccess;
    };
    if (!cudart::waiting::holds(number) && word.holds()) return result_of(go_on());
    cudart::waiting::put_until_value(number, go_on, [word] { return word.holds(); });
    return CUDA_SUCCESS;
  });
}

}  // namespace

extern "C" {

// ---- Streams ----

CUresult cuStreamCreate(CUstream* stream, unsigned int flags) {
  return in_context("cuStreamCreate", [&] { return cudaStreamCreateWithFlags(stream, flags); });
}
CUresult cuStreamCreateWithPriority(CUstream* stream, unsigned int flags, int priority) {
  return in_context("cuStreamCreateWithPriority",
                    [&] { return cudaStreamCreateWithPriority(stream, flags, priority); });
}
CUresult cuStreamDestroy(CUstream stream) {
  return in_stream("cuStreamDestroy", stream, [&] { return cudaStreamDestroy(stream); });
}
CUresult cuStreamSynchronize(CUstream stream) {
  return in_stream("cuStreamSynchronize", stream, [&] { return cudaStreamSynchronize(stream); });
}
CUresult cuStreamQuery(CUstream stream) {
  return in_stream("cuStreamQuery", stream, [&] { return cudaStreamQuery(stream); });
}
CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned int flags) {
  return in_stream("cuStreamWaitEvent", stream,
                   [&] { return cudaStreamWaitEvent(stream, event, flags); });
}
CUresult cuStreamGetFlags(CUstream stream, unsigned int* flags) {
  return in_stream("cuStreamGetFlags", stream, [&] { return cudaStreamGetFlags(stream, flags); });
}
CUresult cuStreamGetPriority(CUstream stream, int* priority) {
  return in_stream("cuStreamGetPriority", stream,
                   [&] { return cudaStreamGetPriority(stream, priority); });
}
CUresult cuStreamGetId(CUstream stream, unsigned long long* number) {
  return in_stream("cuStreamGetId", stream, [&] { return cudaStreamGetId(stream, number); });
}
CUresult cuStreamGetDevice(CUstream stream, CUdevice* device) {
  return in_stream("cuStreamGetDevice", stream,
                   [&] { return cudaStreamGetDevice(stream, device); });
}
CUresult cuStreamGetCtx(CUstream stream, CUcontext* context) {
  return in_stream("cuStreamGetCtx", stream, [&] {
    if (context == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *context = current_context() != nullptr ? current_context() : primary_context();
    return CUDA_SUCCESS;
  });
}
CUresult cuStreamGetCtx_v2(CUstream stream, CUcontext* context, CUgreenCtx* green) {
  if (green != nullptr) *green = nullptr;
  return cuStreamGetCtx(stream, context);
}
CUresult cuStreamAttachMemAsync(CUstream stream, CUdeviceptr address, std::size_t bytes,
                                unsigned int flags) {
  return in_stream("cuStreamAttachMemAsync", stream, [&] {
    return cudaStreamAttachMemAsync(stream, pointer_to(address), bytes, flags);
  });
}
// The runtime's attributes are the driver's.
CUresult cuStreamSetAttribute(CUstream stream, CUstreamAttrID attribute,
                              const CUstreamAttrValue* value) {
  return in_stream("cuStreamSetAttribute", stream, [&] {
    return cudaStreamSetAttribute(stream, static_cast<cudaStreamAttrID>(attribute),
                                  reinterpret_cast<const cudaStreamAttrValue*>(value));
  });
}
CUresult cuStreamGetAttribute(CUstream stream, CUstreamAttrID attribute, CUstreamAttrValue* value) {
  return in_stream("cuStreamGetAttribute", stream, [&] {
    return cudaStreamGetAttribute(stream, static_cast<cudaStreamAttrID>(attribute),
                                  reinterpret_cast<cudaStreamAttrValue*>(value));
  });
}
CUresult cuStreamCopyAttributes(CUstream to, CUstream from) {
  return in_stream("cuStreamCopyAttributes", to,
                   [&] { return cudaStreamCopyAttributes(to, from); });
}
// A callback is told a success, which has the same number on both sides.
CUresult cuStreamAddCallback(CUstream stream, CUstreamCallback callback, void* user_data,
                             unsigned int flags) {
  return in_stream("cuStreamAddCallback", stream, [&] {
    return cudaStreamAddCallback(stream, reinterpret_cast<cudaStreamCallback_t>(callback),
                                 user_data, flags);
  });
}
CUresult cuLaunchHostFunc(CUstream stream, CUhostFn function, void* user_data) {
  return in_stream("cuLaunchHostFunc", stream,
                   [&] { return cudaLaunchHostFunc(stream, function, user_data); });
}

// ---- Words of memory ----

CUresult cuStreamWriteValue32(CUstream stream, CUdeviceptr address, cuuint32_t value,
                              unsigned int flags) {
  return write_word(stream, {"cuStreamWriteValue32", address, 4, value, flags});
}
CUresult cuStreamWriteValue64(CUstream stream, CUdeviceptr address, cuuint64_t value,
                              unsigned int flags) {
  return write_word(stream, {"cuStreamWriteValue64", address, 8, value, flags});
}
CUresult cuStreamWaitValue32(CUstream stream, CUdeviceptr address, cuuint32_t value,
                             unsigned int flags) {
  return wait_for_word(stream, {"cuStreamWaitValue32", address, 4, value, flags});
}
CUresult cuStreamWaitValue64(CUstream stream, CUdeviceptr address, cuuint64_t value,
                             unsigned int flags) {
  return wait_for_word(stream, {"cuStreamWaitValue64", address, 8, value, flags});
}
// One after the other; barriers between them change nothing.
CUresult cuStreamBatchMemOp(CUstream stream, unsigned int count, CUstreamBatchMemOpParams* words,
                            unsigned int flags) {
  if (flags != 0 || (words == nullptr && count != 0)) return CUDA_ERROR_INVALID_VALUE;
  for (unsigned int i = 0; i < count; ++i) {
    const CUstreamBatchMemOpParams& its = words[i];
    CUresult result = CUDA_SUCCESS;
    switch (its.operation) {
      case CU_STREAM_MEM_OP_WAIT_VALUE_32:
      case CU_STREAM_MEM_OP_WAIT_VALUE_64: {
        const bool is_short = its.operation == CU_STREAM_MEM_OP_WAIT_VALUE_32;
        const auto& wait = its.waitValue;
        result = wait_for_word(stream, {"cuStreamBatchMemOp", wait.address, is_short ? 4 : 8,
                                        is_short ? wait.value : wait.value64, wait.flags});
        break;
      }
      case CU_STREAM_MEM_OP_WRITE_VALUE_32:
      case CU_STREAM_MEM_OP_WRITE_VALUE_64: {
        const bool is_short = its.operation == CU_STREAM_MEM_OP_WRITE_VALUE_32;
        const auto& write = its.writeValue;
        result = write_word(stream, {"cuStreamBatchMemOp", write.address, is_short ? 4 : 8,
                                     is_short ? write.value : write.value64, write.flags});
        break;
      }
      case CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES:
      case CU_STREAM_MEM_OP_BARRIER:
        break;
      default:
        result = CUDA_ERROR_INVALID_VALUE;
    }
    if (result != CUDA_SUCCESS) return result;
  }
  return CUDA_SUCCESS;
}

// ---- Events ----

CUresult cuEventCreate(CUevent* event, unsigned int flags) {
  return in_context("cuEventCreate", [&] { return cudaEventCreateWithFlags(event, flags); });
}
CUresult cuEventDestroy(CUevent event) {
  return answer("cuEventDestroy", [&] { return cudaEventDestroy(event); });
}
CUresult cuEventRecord(CUevent event, CUstream stream) {
  return in_stream("cuEventRecord", stream, [&] { return cudaEventRecord(event, stream); });
}
CUresult cuEventRecordWithFlags(CUevent event, CUstream stream, unsigned int flags) {
  return in_stream("cuEventRecordWithFlags", stream,
                   [&] { return cudaEventRecordWithFlags(event, stream, flags); });
}
CUresult cuEventQuery(CUevent event) {
  return answer("cuEventQuery", [&] { return cudaEventQuery(event); });
}
CUresult cuEventSynchronize(CUevent event) {
  return answer("cuEventSynchronize", [&] { return cudaEventSynchronize(event); });
}
CUresult cuEventElapsedTime(float* milliseconds, CUevent start, CUevent end) {
  return answer("cuEventElapsedTime",
                [&] { return cudaEventElapsedTime(milliseconds, start, end); });
}

}  // extern "C"

}  // namespace simt::driver
