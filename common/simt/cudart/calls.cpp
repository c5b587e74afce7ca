#include "common/simt/cudart/calls.hpp"

#include <cerrno>
#include <chrono>
#include <cstdarg>
#include <cstdio>
#include <new>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "common/simt/cudart/fat_binary.hpp"
#include "common/simt/cudart/settings.hpp"
#include "common/simt/cudart/timeline.hpp"
#include "common/simt/ptx/parse.hpp"
#include "common/simt/simt.hpp"

namespace simt {

std::string last_error_detail() { return cudart::detail_of_last_error(); }

}  // namespace simt

namespace simt::cudart {
namespace {

thread_local constinit cudaError_t last = cudaSuccess;
thread_local constinit const char* in_progress = nullptr;
// What is said of the call in progress, and what was said of the last that failed.
thread_local std::string detail_now, detail_kept;
thread_local constinit unsigned uses = 0;
thread_local constinit bool is_in_driver = false;
cudaError_t sticky = cudaSuccess;  // under turn()
bool is_told = false;              // a call has answered it

// Never destroyed: destructors of static objects may still call the runtime.
std::set<std::string>& explained() {
  static std::set<std::string>& keys = *new std::set<std::string>;
  return keys;
}

void say(const char* key, const char* kernel, const char* format, std::va_list arguments) {
  char text[1024];
  std::vsnprintf(text, sizeof text, format, arguments);
  detail_now = text;
  const std::lock_guard lock(turn());
  if (!explained().insert(key).second) return;
  if (kernel == nullptr) {
    std::fprintf(stderr, "simt: %s\n", text);
  } else {
    std::fprintf(stderr, "simt: %s was not launched: %s\n", kernel, text);
  }
}

}  // namespace

void Turn::lock() {
  if (try_lock()) return;
  ++waiting_;
  mutex_.lock();
  --waiting_;
  ++depth_;
}

void Turn::unlock() {
  --depth_;
  mutex_.unlock();
}

bool Turn::try_lock() {
  if (!mutex_.try_lock()) return false;
  ++depth_;
  return true;
}

void Turn::let_others() {
  const int depth = depth_;
  for (int i = 0; i < depth; ++i) unlock();
  std::this_thread::sleep_for(std::chrono::microseconds(200));
  mutex_.lock();
  ++depth_;
  for (int i = 1; i < depth; ++i) try_lock();
}

Turn& turn() {
  static Turn& instance = *new Turn;
  return instance;
}

const char* call_in_progress() { return in_progress; }
CallInProgress::CallInProgress(const char* name) : before_(std::exchange(in_progress, name)) {}
CallInProgress::~CallInProgress() { in_progress = before_; }

cudaError_t spoilt() { return sticky; }
void spoil(cudaError_t error, const std::string& why) {
  sticky = error;
  is_told = false;
  detail_kept = why;
}
cudaError_t tell_spoilt() {
  is_told = true;
  timeline::host_waited_for_all();
  return sticky;
}
void mend() { sticky = cudaSuccess; }

// CUDA 13.0 clears even a sticky error in cudaGetLastError and lets the next call bring it back; the manual says that
// it stays, and so it does here. It says nothing of a kernel before a call has: on a GPU that is still running.
cudaError_t last_error() { return is_told && sticky != cudaSuccess ? sticky : last; }
std::string detail_of_last_error() { return detail_kept; }
void forget_last_error() { last = cudaSuccess; }

cudaError_t record(cudaError_t error) {
  if (error == cudaSuccess) {
    detail_now.clear();
    return error;
  }
  last = error;
  if (error != sticky) detail_kept = std::exchange(detail_now, "");
  return error;
}

cudaError_t exchange_last_error(cudaError_t error) { return std::exchange(last, error); }

unsigned uses_of_runtime() { return uses; }
void note_use_of_runtime() { uses += is_in_driver ? 0 : 1; }
OfDriver::OfDriver() : before_(std::exchange(is_in_driver, true)) {}
OfDriver::~OfDriver() { is_in_driver = before_; }

void explain(const char* key, const char* format, ...) {
  std::va_list arguments;
  va_start(arguments, format);
  say(key, nullptr, format, arguments);
  va_end(arguments);
}

void set_detail(const std::string& text) { detail_now = text; }

void refuse_launch(const char* key, const char* kernel, const char* format, ...) {
  std::va_list arguments;
  va_start(arguments, format);
  say(key, kernel, format, arguments);
  va_end(arguments);
}

cudaError_t asked_failure(const char* name) {
  return allocates(name) ? cudaErrorMemoryAllocation : cudaErrorUnknown;
}

cudaError_t error_of_exception(const char* name) {
  try {
    throw;
  } catch (const DeviceIsSpoilt&) {
    return tell_spoilt();
  } catch (const std::bad_alloc&) {
    return cudaErrorMemoryAllocation;
  } catch (const NoPtx& error) {
    explain("no PTX", "%s: %s: %s", name, program_invocation_short_name, error.what());
    return cudaErrorNoKernelImageForDevice;
  } catch (const ptx::ParseError& error) {
    explain("PTX", "%s: %s", name, error.what());
    return cudaErrorInvalidPtx;
  } catch (const std::exception& error) {
    explain("exception", "%s: %s", name, error.what());
    return cudaErrorNotSupported;
  }
}

cudaError_t query(const char* name, Body<cudaError_t()> body) {
  const std::lock_guard lock(turn());
  const CallInProgress in_progress(name);
  if (is_to_fail(name)) return record(asked_failure(name));
  try {
    return record(body());
  } catch (...) {
    return record(error_of_exception(name));
  }
}

cudaError_t call(const char* name, Body<cudaError_t()> body) {
  note_use_of_runtime();
  return query(name, [&] { return spoilt() != cudaSuccess ? tell_spoilt() : body(); });
}

cudaError_t refused(const char* name) {
  return query(name, [&] {
    explain(name, "%s is not in the simulator", name);
    return cudaErrorNotSupported;
  });
}

}  // namespace simt::cudart
