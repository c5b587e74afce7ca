// The program that an exercise's file becomes: it runs what the judge asks for and answers what was seen. It
// knows no expected value, no tolerance and no points.
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <map>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include "common/conv/accuracy.hpp"
#include "common/exercise/exercise.h"
#include "common/exercise/host_arrays.hpp"
#include "common/exercise/wire.hpp"
#include "common/json/json.hpp"

namespace halo::exercises {

namespace {

template <class T>
T* at(std::uint64_t address) {
  return reinterpret_cast<T*>(static_cast<std::uintptr_t>(address));
}

class Worker {
 public:
  explicit Worker(const Exercise& exercise) : exercise_(exercise), backend_(make_backend()) {}

  Answer answer(const Request& request) {
    Answer answer;
    switch (request.ask) {
      case Ask::hello: {
        std::vector<bool> whole;
        for (int i = 0; i < exercise_.outputs(); ++i) whole.push_back(exercise_.is_whole(i));
        answer.bytes = json::Value::object({{"backend", backend_->name()},
                                            {"unavailable", backend_->unavailable()},
                                            {"observes", backend_->observes()},
                                            {"times", backend_->times()},
                                            {"blind", backend_->blind_reason()},
                                            {"not_counted", backend_->not_counted()},
                                            {"not_searched", backend_->not_searched()},
                                            {"guard_cells", backend_->guard_cells()},
                                            {"inputs", exercise_.inputs()},
                                            {"outputs", exercise_.outputs()},
                                            {"whole", whole},
                                            {"numbers", exercise_.numbers()}})
                           .dump();
        break;
      }
      case Ask::allocate:
        answer.number = reinterpret_cast<std::uintptr_t>(
            backend_->allocate(static_cast<std::size_t>(request.count)));
        memory_[answer.number] = {request.count, ""};
        break;
      case Ask::release:
        backend_->release(at<void>(request.address));
        memory_.erase(request.address);
        break;
      case Ask::name:
        backend_->name_memory(at<void>(request.address), request.bytes);
        memory_[request.address].name = request.bytes;
        break;
      case Ask::copy_in:
        backend_->copy_in(at<void>(request.address), request.bytes.data(), request.bytes.size());
        break;
      case Ask::copy_out:
        answer.bytes.resize(static_cast<std::size_t>(request.count));
        backend_->copy_out(answer.bytes.data(), at<void>(request.address), answer.bytes.size());
        break;
      case Ask::poison:
        backend_->poison(at<float>(request.address), static_cast<std::size_t>(request.count),
                         request.value);
        break;
      case Ask::run: {
        const RemoteCall call = call_from_text(request.bytes);
        HostCounts counted;
        std::vector<Hazard> missed;
        Observation seen = backend_->run([&] {
          return exercise_.is_on_the_host() ? run_on_the_host(call, counted, missed) : launch(call);
        });
        seen.cost.host = counted;
        seen.hazards.insert(seen.hazards.end(), missed.begin(), missed.end());
        answer.bytes = to_text(seen, *backend_);
        break;
      }
      case Ask::time:
        answer.bytes = time(call_from_text(request.bytes), static_cast<int>(request.count));
        break;
      case Ask::recover:
        answer.number = backend_->recover();
        break;
      case Ask::be_tiny:
        answer.number = backend_->be_tiny(request.count != 0);
        break;
    }
    return answer;
  }

 private:
  int launch(const RemoteCall& call) {
    std::vector<const float*> inputs;
    std::vector<float*> outputs;
    for (const std::uint64_t address : call.inputs) inputs.push_back(at<const float>(address));
    for (const std::uint64_t address : call.outputs) outputs.push_back(at<float>(address));
    return exercise_({inputs.data(), outputs.data(), call.numbers.data()});
  }

  struct Memory {
    std::uint64_t bytes = 0;
    std::string name;
  };

  // The array that this address is the first of: where it lies in the worker's memory, and how many cells are
  // behind it.
  std::pair<const Memory&, std::size_t> array_at(std::uint64_t address) const {
    const auto& [begin, memory] = *std::prev(memory_.upper_bound(address));
    const std::uint64_t guard = backend_->guard_cells() * sizeof(float);
    return {memory,
            static_cast<std::size_t>((begin + memory.bytes - guard - address) / sizeof(float))};
  }

  // The compiler may round the two differently, but hardly.
  static bool are_alike(const std::vector<float>& counted, const float* computed) {
    for (std::size_t i = 0; i < counted.size(); ++i) {
      const float a = counted[i], b = computed[i];
      const bool both_unwritten = conv::is_poison(a) && conv::is_poison(b);
      if (!both_unwritten && !(std::fabs(a - b) <= 1e-4f * (std::fabs(b) + 1))) return false;
    }
    return true;
  }

  // First with cells that count, on arrays of its own: what it writes beyond them is seen and does no harm.
  int run_on_the_host(const RemoteCall& call, HostCounts& counted, std::vector<Hazard>& missed) {
    std::vector<float> cells;
    std::vector<std::vector<float>> counted_outputs;
    for (const bool is_counted : {true, false}) {
      HostArrays arrays;
      std::vector<const float*> inputs;
      std::vector<float*> outputs;
      for (const std::uint64_t address : call.inputs) {
        const auto [memory, count] = array_at(address);
        cells.resize(count);
        backend_->copy_out(cells.data(), at<void>(address), count * sizeof(float));
        inputs.push_back(arrays.add(cells, memory.name).data());
      }
      for (const std::uint64_t address : call.outputs) {
        const auto [memory, count] = array_at(address);
        cells.assign(count, conv::poison());
        outputs.push_back(arrays.add(cells, memory.name).data());
      }
      const ExerciseArguments arguments{inputs.data(), outputs.data(), call.numbers.data()};
      if (is_counted) {
        arrays.start();
        exercise_.run_counted(arguments);
        counted = arrays.finish(missed);
        for (std::size_t i = 0; i < outputs.size(); ++i) {
          counted_outputs.emplace_back(outputs[i], outputs[i] + array_at(call.outputs[i]).second);
        }
        continue;
      }
      exercise_(arguments);
      for (std::size_t i = 0; i < outputs.size(); ++i) {
        // Counts of other outputs are none of these.
        if (!are_alike(counted_outputs[i], outputs[i])) counted = {};
        backend_->copy_in(at<void>(call.outputs[i]), outputs[i],
                          array_at(call.outputs[i]).second * sizeof(float));
      }
    }
    return 0;
  }

  // Of a call, in each of some rounds: of as many calls as fill some milliseconds, `most` at the utmost.
  std::string time(const RemoteCall& call, int most) {
    const auto batch_of = [&](int calls) {
      return backend_->batch([this, call](int) { return launch(call); }, calls);
    };
    const std::unique_ptr<Batch> one = batch_of(1);
    one->run();  // the first is not like the others
    const double first = one->run();
    constexpr double kRound = 20;  // milliseconds
    const int calls = std::clamp(static_cast<int>(kRound / std::max(first, 1e-3)), 1, most);
    const int rounds = first > 500 ? 3 : 9;
    const std::unique_ptr<Batch> batch = batch_of(calls);
    batch->run();
    std::vector<double> milliseconds;
    for (int round = 0; round < rounds; ++round) milliseconds.push_back(batch->run() / calls);
    return json::Value(milliseconds).dump();
  }

  const Exercise exercise_;
  std::unique_ptr<Backend> backend_;
  std::map<std::uint64_t, Memory> memory_;  // that the judge has asked for, by its first address
};

int serve() {
  Worker worker{halo::exercise()};
  while (true) {
    std::optional<Request> request = receive_request(kSocket);
    if (!request) return 0;
    Answer answer;
    try {
      answer = worker.answer(*request);
    } catch (const std::exception& error) {
      answer.error = error.what();
      if (answer.error.empty()) answer.error = "an exception without words";
    }
    std::fflush(stdout);
    send(kSocket, answer);
  }
}

}  // namespace

}  // namespace halo::exercises

int main(int, char** argv) {
  try {
    return halo::exercises::serve();
  } catch (const halo::exercises::Gone&) {
    std::fprintf(stderr, "%s is run by ./halo try, not by hand\n", argv[0]);
    return 2;
  }
}
