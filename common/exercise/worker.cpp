// The program that an exercise's file becomes: it runs what the judge asks for and answers what was seen. It
// knows no expected value, no tolerance and no points.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

#include "common/conv/accuracy.hpp"
#include "common/exercise/exercise.h"
#include "common/exercise/host_arrays.hpp"
#include "common/exercise/served.hpp"
#include "common/exercise/wire.hpp"
#include "common/json/json.hpp"
#include "common/simt/simulator.hpp"

namespace halo::exercises {

namespace {

// Before any code of the file's own: what that asks of the device is noted too.
[[gnu::constructor(101)]] void begin_to_record(int count, char** words, char**) {
  if (count == 2 && words[1] == kRecordWord && simt::simulator() != nullptr) {
    simt::simulator()->record(true);
  }
}

// What the judge itself asks of the worker is no work of the file.
class NotRecording {
 public:
  explicit NotRecording(bool was_on) : was_on_(was_on) {
    if (was_on_) simt::simulator()->record(false);
  }
  ~NotRecording() {
    if (was_on_) simt::simulator()->record(true);
  }
  NotRecording(const NotRecording&) = delete;
  NotRecording& operator=(const NotRecording&) = delete;

 private:
  bool was_on_;
};

class Worker {
 public:
  Worker(const Exercise& exercise, bool records) : exercise_(exercise), records_(records) {}

  Answer answer(const Request& request) {
    Answer answer;
    {
      const NotRecording judges_own(records_);
      if (served_.answer(request, answer)) return answer;
      if (request.ask == Ask::hello) answer.bytes = description();
    }
    std::string noted;
    if (request.ask == Ask::run) answer.bytes = run(call_from_text(request.bytes), noted);
    if (request.ask == Ask::time) {
      answer.bytes = time(call_from_text(request.bytes), static_cast<int>(request.count));
    }
    // Before the first call: what is asked before main.
    if (request.ask == Ask::hello && records_) noted = simt::simulator()->take_recorded();
    answer.number = answer.bytes.size();
    answer.bytes += noted;
    return answer;
  }

 private:
  std::string description() {
    std::vector<bool> whole;
    for (int i = 0; i < exercise_.outputs(); ++i) whole.push_back(exercise_.is_whole(i));
    json::Value all = served_.description();
    all["inputs"] = exercise_.inputs();
    all["outputs"] = exercise_.outputs();
    all["whole"] = whole;
    all["numbers"] = exercise_.numbers();
    all["on_the_host"] = exercise_.is_on_the_host();
    return all.dump();
  }

  std::string run(const RemoteCall& call, std::string& noted) {
    HostCounts counted;
    std::vector<Hazard> missed;
    Observation seen = backend_.run([&] {
      const int error =
          exercise_.is_on_the_host() ? run_on_the_host(call, counted, missed) : launch(call);
      // The wait behind it is the judge's own.
      if (records_) noted = simt::simulator()->take_recorded();
      return error;
    });
    if (records_) simt::simulator()->take_recorded();
    seen.cost.host = counted;
    seen.hazards.insert(seen.hazards.end(), missed.begin(), missed.end());
    return to_text(seen, backend_);
  }

  int launch(const RemoteCall& call) {
    std::vector<const float*> inputs;
    std::vector<float*> outputs;
    for (const std::uint64_t address : call.inputs) inputs.push_back(at<const float>(address));
    for (const std::uint64_t address : call.outputs) outputs.push_back(at<float>(address));
    return exercise_({inputs.data(), outputs.data(), call.numbers.data()});
  }

  // The array that this address is the first of: where it lies in the worker's memory, and how many cells are
  // behind it.
  std::pair<const Served::Memory&, std::size_t> array_at(std::uint64_t address) const {
    const auto& [begin, memory] = *std::prev(served_.memory().upper_bound(address));
    const std::uint64_t guard = backend_.guard_cells() * sizeof(float);
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
        backend_.copy_out(cells.data(), at<void>(address), count * sizeof(float));
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
        backend_.copy_in(at<void>(call.outputs[i]), outputs[i],
                         array_at(call.outputs[i]).second * sizeof(float));
      }
    }
    return 0;
  }

  // Of a call, in each of some rounds: of as many calls as fill some milliseconds, `most` at the utmost.
  std::string time(const RemoteCall& call, int most) {
    const auto batch_of = [&](int calls) {
      return backend_.batch([this, call](int) { return launch(call); }, calls);
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
  const bool records_;
  Served served_;
  Backend& backend_ = served_.backend();
};

}  // namespace

}  // namespace halo::exercises

int main(int count, char** words) {
  using namespace halo::exercises;
  const bool records = count == 2 && words[1] == kRecordWord && simt::simulator() != nullptr;
  Worker worker{halo::exercise(), records};
  return serve([&](const Request& request) { return worker.answer(request); });
}
