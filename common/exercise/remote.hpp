// A backend in another process, the worker, which has the student's code in it: the judge's process sees no
// more of it than its outputs, and outlives whatever it does.
#pragma once

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/harness/backend/backend.hpp"

namespace halo::exercises {

/// How the worker (worker.cpp) is started.
struct WorkerCommand {
  std::vector<std::string> words;  // the program
  std::vector<std::string> within =
      {};                // a sandbox's words (common/process/sandbox.hpp); empty: none
  bool is_held = false;  // by a debugger: it may take its time, and stays away once left
  bool is_profiled =
      false;  // its words begin with a profiler's, which writes what it counted when the program has ended
  /// The program that has the device (device.cpp), while the worker only notes what is asked of it. Empty: the worker has it.
  std::string device = {};
};

/// The worker has shown nothing, for the machine hindered it: what() says how, in one line.
struct Hindered : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class RemoteBackend final : public Backend {
 public:
  /// Throws std::runtime_error, one line, if the worker ends at once or does not answer as one, and Hindered.
  explicit RemoteBackend(const WorkerCommand& command);
  ~RemoteBackend() override;

  /// Seconds without a sign of life after which a call is ended, as Patience (common/process) counts them; 0: as long as
  /// it takes.
  void set_patience(int seconds);
  /// Why whatever came since is no verdict: the machine ended the worker, or kept it from running. Empty: nothing did.
  const std::string& hindrance() const;

  /// How many parameters the exercise's function has.
  struct Parameters {
    int inputs = 0, outputs = 0, numbers = 0;
    bool on_the_host = false;
    bool operator==(const Parameters&) const = default;
  };
  Parameters parameters() const;

  /// Only within run(): calls the exercise's function with arrays of this backend, outputs of so many cells each.
  /// What was seen is run()'s to tell. Ints that the function wrote are read from now on as the same numbers
  /// in float; cells that nobody wrote keep their poison.
  int call(const std::vector<const float*>& inputs, const std::vector<float*>& outputs,
           std::size_t cells, const std::vector<long long>& numbers);
  /// Milliseconds of a call, for several rounds of so many. Throws std::runtime_error.
  std::vector<double> time(const std::vector<const float*>& inputs,
                           const std::vector<float*>& outputs,
                           const std::vector<long long>& numbers, int calls);
  /// What the last run() saw.
  const Observation& last() const;

  std::string name() const override;
  bool observes() const override;
  std::string blind_reason() const override;
  std::string not_counted() const override;
  std::string not_searched() const override;
  CounterList by_name(const simt::Counters& counters) const override;
  bool times() const override;
  std::string unavailable() override;
  bool be_tiny(bool is_tiny) override;
  void* allocate(std::size_t bytes) override;
  void release(void* memory) noexcept override;
  void name_memory(const void* memory, const std::string& name) override;
  void copy_in(void* to, const void* from, std::size_t bytes) override;
  void copy_out(void* to, const void* from, std::size_t bytes) override;
  void poison(float* memory, std::size_t count, float with) override;
  std::size_t guard_cells() const override;
  Observation run(const std::function<int()>& launch) override;
  std::unique_ptr<Batch> batch(std::function<int(int call)> launch, int calls) override;
  /// A worker that has ended is started again, unless it was ended by the sandbox, or was silent too often.
  bool recover() override;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace halo::exercises
