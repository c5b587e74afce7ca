// What all functions of the runtime do: take their turn, answer for a device that is spoilt, remember their error, and
// say on stderr what the error's name does not.
#pragma once

#include <driver_types.h>

#include <atomic>
#include <mutex>
#include <string>

#include "common/simt/cudart/settings.hpp"

namespace simt::cudart {

/// One call at a time; a callback of the program may call again.
class Turn {
 public:
  void lock();
  void unlock();
  bool try_lock();
  /// The others have theirs while this thread, which has it, lets the time pass.
  void let_others();
  /// How many threads are in a call that waits for its turn.
  int waiting() const { return waiting_; }

 private:
  std::recursive_mutex mutex_;
  std::atomic<int> waiting_ = 0;
  int depth_ = 0;
};
Turn& turn();

/// Thrown where the host has waited for a kernel, and that has spoilt the device.
struct DeviceIsSpoilt {};

/// The error that has spoilt the device: calls that need it answer this until cudaDeviceReset. cudaSuccess: none.
cudaError_t spoilt();
void spoil(cudaError_t error, const std::string& why = "");
/// The same, where the host is told: from then on it knows that nothing runs any more.
cudaError_t tell_spoilt();
void mend();

/// Of this host thread.
cudaError_t last_error();
std::string detail_of_last_error();
void forget_last_error();
/// Makes it the last error, unless it is none.
cudaError_t record(cudaError_t error);
/// What it was; one that has spoilt the device stays.
cudaError_t exchange_last_error(cudaError_t error);

/// How often this host thread has asked the runtime for something that needs the device, other than in a call of the driver.
unsigned uses_of_runtime();
void note_use_of_runtime();
/// While a function of the driver does its work by those of the runtime.
class OfDriver {
 public:
  OfDriver();
  ~OfDriver();
  OfDriver(const OfDriver&) = delete;
  OfDriver& operator=(const OfDriver&) = delete;

 private:
  bool before_;
};

/// Beside the error's name: one line on stderr, once for each key.
__attribute__((format(printf, 2, 3))) void explain(const char* key, const char* format, ...);
/// What detail_of_last_error() says of the call in progress, without a line.
void set_detail(const std::string& text);
/// "simt: NAME was not launched: ...", of a kernel.
__attribute__((format(printf, 3, 4))) void refuse_launch(const char* key, const char* kernel,
                                                         const char* format, ...);

/// Of a call that is_to_fail().
cudaError_t asked_failure(const char* name);

/// Of what is being handled: no memory, a module that cannot be read.
cudaError_t error_of_exception(const char* name);

/// The call that this host thread is in, the innermost; null: none.
const char* call_in_progress();
class CallInProgress {
 public:
  explicit CallInProgress(const char* name);
  ~CallInProgress();
  CallInProgress(const CallInProgress&) = delete;
  CallInProgress& operator=(const CallInProgress&) = delete;

 private:
  const char* before_;
};

/// A lambda of the caller's, as long as the call goes on. Hundreds of functions are a call with a body: by a template
/// argument all that calls do would be compiled for each of them, and a newcomer waits for that.
template <class Signature>
class Body;
template <class Result, class... Arguments>
class Body<Result(Arguments...)> {
 public:
  template <class Lambda>
  Body(const Lambda& lambda)
      : lambda_(&lambda), run_([](const void* its, Arguments... arguments) -> Result {
          return (*static_cast<const Lambda*>(its))(arguments...);
        }) {}
  Result operator()(Arguments... arguments) const { return run_(lambda_, arguments...); }

 private:
  const void* lambda_;
  Result (*run_)(const void*, Arguments...);
};

/// A call that works whatever happened on the device.
cudaError_t query(const char* name, Body<cudaError_t()> body);

/// A call that needs a device in order.
cudaError_t call(const char* name, Body<cudaError_t()> body);

/// The function is not there: says so once, and answers cudaErrorNotSupported.
cudaError_t refused(const char* name);

}  // namespace simt::cudart
